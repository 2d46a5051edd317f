"""What people did to a request and what time did, in order, as the acts of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from agent.decide import NOTE_LENGTH, QUESTION_LENGTH
from agent.evaluation.scenario import Act, Answer, Arrives, Decide, TakenBack, TimePasses
from agent.models import Approval, Decision
from intake.models import Photo, Receipt, RefundRequest, Reply, Step
from intake.timeline import shorten
from payments.money import share_of_paid

MOST_ACTS = 100
MESSAGE_LENGTH = 2000
# What the customer was told when nothing happened for too long, or when staff took the request back.
TOLD: dict[str, Act] = {
    "no_answer_yet": TimePasses(),
    "return_reminder": TimePasses(),
    "closed": TimePasses(),
    "taken_back": TakenBack(),
}

Text = Callable[[str], str]
Names = Callable[[Photo], str]
Moment = tuple[datetime, Act]


def acts_of(request: RefundRequest, text: Text, name_of: Names) -> tuple[Act, ...]:
    """At most MOST_ACTS, oldest first, in five queries. `text` rewrites what people wrote, `name_of` names a photo."""
    cards = list(request.approvals.select_related("decision").order_by("opened_at", "id")[:MOST_ACTS])
    decisions = [
        (card.decision.created_at, _decide(request, card, text)) for card in cards if hasattr(card, "decision")
    ]
    moments = [*decisions, *_answers(request, text, name_of), *_receipts(request), *_told(request)]
    return tuple(act for _, act in sorted(moments, key=lambda moment: moment[0])[:MOST_ACTS])


def _decide(request: RefundRequest, card: Approval, text: Text) -> Decide:
    decision = card.decision
    most = QUESTION_LENGTH if decision.choice == Decision.Choice.ASK_CUSTOMER else NOTE_LENGTH
    note = shorten(text(decision.note), most)  # a stand-in may be longer than the name
    if decision.choice != Decision.Choice.APPROVE:
        return Decide(choice=decision.choice, note=note)
    units = None if decision.units in (None, request.units) else decision.units
    price = share_of_paid(request.amount_minor, request.units, units or request.units, 0)
    usual = min(card.amount_minor, price) + decision.shipping_minor
    return Decide(
        choice="approve",
        note=note,
        amount_minor=None if decision.amount_minor == usual else decision.amount_minor,
        units=units,
        shipping_minor=decision.shipping_minor,
        require_return=decision.require_return,
    )


def _answers(request: RefundRequest, text: Text, name_of: Names) -> Iterable[Moment]:
    replies = Reply.objects.filter(question__request=request).prefetch_related("photos").order_by("created_at", "id")
    for reply in replies[:MOST_ACTS]:
        photos = tuple(name_of(photo) for photo in reply.photos.all())
        yield reply.created_at, Answer(message=shorten(text(reply.message), MESSAGE_LENGTH), photos=photos)


def _receipts(request: RefundRequest) -> Iterable[Moment]:
    receipts = Receipt.objects.filter(parcel__request=request).order_by("created_at", "id")
    for receipt in receipts[:MOST_ACTS]:
        yield receipt.created_at, Arrives(units=None if receipt.units == request.units else receipt.units)


def _told(request: RefundRequest) -> Iterable[Moment]:
    steps = Step.objects.filter(request=request, message_key__in=sorted(TOLD)).order_by("position")
    for step in steps[:MOST_ACTS]:
        yield step.created_at, TOLD[step.message_key]
