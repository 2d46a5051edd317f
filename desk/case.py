"""Everything the open request shows left of its timeline, loaded in a fixed number of queries."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Prefetch
from django.utils import timezone

from agent.failed_attempt import failed_attempt
from agent.models import Approval, Decision
from desk.photo_notes import PhotoNotes, photo_notes
from desk.slow_refunds import is_slow
from intake.models import Photo, Question, RefundRequest, Return
from intake.record_receipt import EXPECTED
from intake.refusals import Refusal
from intake.request_page import MOST_QUESTIONS
from intake.statuses import Status
from payments.balance import OrderBalance, left_on_order
from payments.made_elsewhere import refunds_made_elsewhere
from payments.models import Charge, Refund

MOST_CARDS = 50


@dataclass(frozen=True)
class Case:
    """`card` is the open one; `decided` are the earlier ones with their decision, newest first; `made_elsewhere` are
    the order's refunds that no request asked for, newest first."""

    request: RefundRequest
    photos: list[Photo]
    card: Approval | None
    decided: list[Decision]
    questions: list[Question]
    parcel: Return | None
    charges: list[Charge]
    refunds: list[Refund]
    made_elsewhere: list[Refund]
    balance: OrderBalance

    @cached_property
    def notes(self) -> dict[uuid.UUID, PhotoNotes]:
        """Those of each picture, by its key. Made when a page first shows one: pictures are compared for it."""
        return photo_notes(self.request, self.photos, self.questions)

    @property
    def open_question(self) -> Question | None:
        """The question that still waits for its answer."""
        if self.request.status != Status.NEEDS_CUSTOMER:
            return None
        return next(
            (one for one in reversed(self.questions) if one.withdrawn_at is None and not hasattr(one, "reply")), None
        )

    @property
    def refund(self) -> Refund | None:
        return self.refunds[0] if self.refunds else None

    @cached_property
    def tried(self) -> Refund | None:
        """The refused refund that the open card is about: whoever approves means the same again."""
        if self.card is None or self.refund is None or self.refund.status != Refund.Status.FAILED:
            return None
        return failed_attempt(self.card)

    @property
    def offered_minor(self) -> int:
        """What approving the open card as it stands gives back, with shipping; 0 without a card."""
        if self.tried is not None:
            return self.tried.amount_minor
        return self.card.amount_minor if self.card is not None else 0

    @property
    def slow_refund(self) -> Refund | None:
        """The refund this request waits for, when it hangs and somebody has to look after it."""
        waits = self.request.status == Status.REFUNDING and self.refund is not None
        return self.refund if waits and self.refund and is_slow(self.refund, timezone.now()) else None

    @property
    def refunds_with_news(self) -> list[Refund]:
        """The refunds that failed, and those held back for a reason that no other part of the page tells."""
        told_above = self.request.status == Status.REFUNDING
        return [
            refund
            for refund in self.refunds
            if refund.status == Refund.Status.FAILED
            or (refund.status == Refund.Status.PENDING and refund.pending_reason and not told_above)
        ]

    @property
    def can_be_received(self) -> bool:
        """Whether the latest return still waits, or was closed or withdrawn before its parcel came."""
        return self.parcel is not None and self.parcel.status in EXPECTED

    @property
    def last_decision(self) -> Decision | None:
        return self.decided[0] if self.decided else None

    @property
    def shipping_left_minor(self) -> int:
        """Shipping of the order that a decision may still give back, in minor units; the verb has the last word."""
        return self.balance.shipping_left_minor

    @property
    def charge_holds_less(self) -> bool:
        """No single charge of the order holds what the open card would pay."""
        return self.card is not None and self.balance.largest_left_minor < self.offered_minor


def find_request(request_uuid: uuid.UUID) -> RefundRequest:
    """The request with its line, order and customer. Raises Refusal request_not_found."""
    found = RefundRequest.objects.select_related("line__order", "customer", "policy").filter(uuid=request_uuid).first()
    if found is None:
        raise Refusal("request_not_found", "There is no such request. Go back to the queue and open it from there.")
    return found


def load_case(request: RefundRequest) -> Case:
    """Loads the rest of the case in a fixed number of queries. `request` as `find_request` gives it."""
    cards = list(
        request.approvals.select_related("decision__decided_by", "run").order_by("-opened_at", "-id")[:MOST_CARDS]
    )
    for card in cards:
        card.request = request
    return Case(
        request=request,
        photos=list(request.photos.all()[:20]),
        card=next((card for card in cards if card.closed_at is None), None),
        decided=[card.decision for card in cards if hasattr(card, "decision")],
        questions=_questions(request),
        parcel=request.returns.select_related("receipt__recorded_by").order_by("-created_at", "-id").first(),
        charges=list(request.line.order.charges.all()[:10]),
        refunds=list(
            Refund.objects.filter(request_uuid=request.uuid).select_related("charge").order_by("-attempt")[:10]
        ),
        made_elsewhere=refunds_made_elsewhere(request.line.order_id),
        balance=left_on_order(request.line.order),
    )


def _questions(request: RefundRequest) -> list[Question]:
    pictures = Prefetch("reply__photos", queryset=Photo.objects.order_by("created_at", "id"))
    newest = (
        request.questions.select_related("reply", "asked_by")
        .prefetch_related(pictures)
        .order_by("-created_at", "-id")[:MOST_QUESTIONS]
    )
    return list(reversed(newest))
