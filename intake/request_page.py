"""Reads everything the customer's page of one request shows, in a fixed number of queries."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.db.models import Exists, OuterRef, Prefetch, QuerySet
from django.utils import timezone

from intake.models import Photo, Question, RefundRequest, Return, Step
from intake.names import name_of
from intake.standing import CaseFacts, Mark, Standing, standing_of, track_of
from intake.statuses import Status
from payments.models import NEEDS_THE_CUSTOMER, Charge, Refund
from payments.money import format_minor

MAX_STEPS = 200
MOST_QUESTIONS = 50
# The key of what a review says when it hands the request over.
PERSON_IS_LOOKING = "person_is_looking"


@dataclass(frozen=True)
class Update:
    """One line of the customer's timeline. `name` is the customer's own, the agent's, or the shop's; never staff's."""

    step: Step
    name: str
    tone: str
    initials: str


@dataclass(frozen=True)
class RequestPage:
    """The rows of the page; `question` only while it is open, `parcel` the latest return that was not withdrawn."""

    request: RefundRequest
    photos: list[Photo]
    updates: list[Update]
    question: Question | None
    parcel: Return | None
    refund: Refund | None
    card: str
    standing: Standing
    track: tuple[Mark, ...]

    @property
    def amount(self) -> str:
        return _amount(self.request, self.refund, self.parcel)

    @property
    def amount_line(self) -> str:
        """`$129.00 to your Visa ending 4242`; what was asked for if nothing is paid; no card that cannot take it."""
        if self.request.status in {Status.DECLINED, Status.CLOSED}:
            return f"You asked for {format_minor(self.request.amount_minor, self.request.currency)}"
        if self.refund and self.refund.waits_for_customer:
            return self.amount
        amount = self.amount
        if self.refund is None and _came_in_part(self.parcel):
            amount = "The price of what came back,"  # its share is computed when it is paid
        return f"{amount} to your {self.card}" if self.card else f"{amount} to the card you paid with"

    @property
    def send_back_to(self) -> tuple[str, ...]:
        """The address lines while the item has to come back, else nothing."""
        waits = self.request.status == Status.AWAITING_RETURN and self.parcel is not None
        return settings.RETURN_ADDRESS if waits and self.parcel and self.parcel.status == Return.Status.WAITING else ()


def load_page(request: RefundRequest) -> RequestPage:
    """`request` with its line, order and policy; read before the steps, so that its `rev` is never ahead of them."""
    updates = [update_of(step, request) for step in customer_steps(request)]
    questions = _newest_questions(request)
    question = next((asked for asked in reversed(questions) if _is_open(asked)), None)
    if request.status != Status.NEEDS_CUSTOMER:
        question = None
    returns = request.returns.select_related("receipt").exclude(status=Return.Status.WITHDRAWN)
    parcel = returns.order_by("-created_at", "-id").first()
    refund = _live_refund(request)
    card = _card(request, refund)
    facts = _facts(request, updates, question, parcel, refund, card, looked_at_before=bool(questions or parcel))
    return RequestPage(
        request=request,
        photos=[*request.photos.all(), *_reply_photos(questions)],
        updates=updates,
        question=question,
        parcel=parcel,
        refund=refund,
        card=card,
        standing=standing_of(facts),
        track=track_of(facts),
    )


def with_waiting_refunds(requests: QuerySet[RefundRequest]) -> QuerySet[RefundRequest]:
    """Each with `refund_waits_for_customer`, read along with the rows."""
    waiting = Refund.objects.filter(
        request_uuid=OuterRef("uuid"), status=Refund.Status.PENDING, pending_reason=NEEDS_THE_CUSTOMER
    )
    return requests.annotate(refund_waits_for_customer=Exists(waiting))


def customer_steps(request: RefundRequest, *, after_rev: int = 0) -> list[Step]:
    """The newest steps the customer may read, newest first."""
    steps = Step.objects.filter(request=request, for_customer=True, rev__gt=after_rev)
    return list(steps.order_by("-position")[:MAX_STEPS])


def update_of(step: Step, request: RefundRequest) -> Update:
    if step.actor == Step.Actor.CUSTOMER:
        person = request.customer
        name = name_of(person)
        return Update(step, name, "customer", f"{person.first_name[:1]}{person.last_name[:1]}".upper() or "•")
    if step.actor == Step.Actor.AGENT:
        return Update(step, actor_name(step, request), "agent", "AI")
    return Update(step, settings.SHOP_NAME, "quiet", settings.SHOP_NAME[:1])


def actor_name(step: Step, request: RefundRequest) -> str:
    """Who acted, as the customer may know it."""
    if step.actor == Step.Actor.CUSTOMER:
        return name_of(request.customer)
    return "Refund agent" if step.actor == Step.Actor.AGENT else settings.SHOP_NAME


def _facts(
    request: RefundRequest,
    updates: list[Update],
    question: Question | None,
    parcel: Return | None,
    refund: Refund | None,
    card: str,
    *,
    looked_at_before: bool,
) -> CaseFacts:
    declined = next((update.step.detail for update in updates if update.step.message_key == "declined"), "")
    return CaseFacts(
        status=request.status,
        since=request.status_changed_at,
        now=timezone.now(),
        reopened=request.reopened,
        looked_at_before=looked_at_before,
        prepared=_is_prepared(request, updates),
        amount=_amount(request, refund, parcel),
        card=card,
        refund_reference=refund.reference if refund else "",
        refunded_at=refund.settled_at if refund else None,
        refund_waits_for_customer=bool(refund and refund.waits_for_customer),
        question_open_until=question.reply_by if question else None,
        return_code=parcel.code if parcel else "",
        return_status=parcel.status if parcel else "",
        return_check_at=parcel.check_at if parcel else None,
        came_in_part=_came_in_part(parcel),
        reminded=bool(parcel and parcel.reminded_at),
        decline_words=declined,
    )


def _amount(request: RefundRequest, refund: Refund | None, parcel: Return | None) -> str:
    agreed = parcel.amount_minor if parcel else request.amount_minor
    return format_minor(refund.amount_minor if refund else agreed, request.currency)


def _came_in_part(parcel: Return | None) -> bool:
    """Fewer units arrived than the agreed amount is for."""
    return parcel is not None and hasattr(parcel, "receipt") and parcel.receipt.units < parcel.agreed_units


def _live_refund(request: RefundRequest) -> Refund | None:
    live = Refund.objects.filter(request_uuid=request.uuid).exclude(status=Refund.Status.FAILED)
    return live.order_by("-reserved_at").first()


def _card(request: RefundRequest, refund: Refund | None) -> str:
    """Of the refund if there is one, else of the order's only card; with several cards it is not known before."""
    if refund:
        return f"{refund.card_brand} ending {refund.card_last4}"
    charged = Charge.objects.filter(order=request.line.order).order_by("card_brand", "card_last4")
    cards = list(charged.values_list("card_brand", "card_last4").distinct()[:2])
    return "{} ending {}".format(*cards[0]) if len(cards) == 1 else ""


def _is_open(question: Question) -> bool:
    return question.withdrawn_at is None and not hasattr(question, "reply")


def _newest_questions(request: RefundRequest) -> list[Question]:
    """Oldest first, each with its reply and that reply's photos."""
    photos = Prefetch("reply__photos", queryset=Photo.objects.all())
    asked = request.questions.select_related("reply").prefetch_related(photos)
    return list(reversed(asked.order_by("-created_at", "-id")[:MOST_QUESTIONS]))


def _is_prepared(request: RefundRequest, updates: list[Update]) -> bool:
    """Whether the request came to staff by a review that ran to its end, and by nothing since."""
    said = next((update.step for update in updates if update.step.message_key), None)
    if request.status != Status.NEEDS_APPROVAL or said is None or said.message_key != PERSON_IS_LOOKING:
        return False
    steps = Step.objects.filter(request=request, kind__in=[Step.Kind.FINISH, Step.Kind.ERROR])
    last = list(steps.order_by("-position").values_list("kind", "run_uuid")[:2])
    return last[:1] == [(Step.Kind.FINISH, said.run_uuid)] and (Step.Kind.ERROR, said.run_uuid) not in last


def _reply_photos(questions: list[Question]) -> list[Photo]:
    return [photo for question in questions if hasattr(question, "reply") for photo in question.reply.photos.all()]
