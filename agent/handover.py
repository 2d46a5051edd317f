"""Puts a request before staff: one open card, with what the agent found, and nothing else left to wait for."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils import timezone

from agent import customer_messages
from agent.counter_case import CHANGE_LENGTH, strongest_reason_against
from agent.lease import Lease
from agent.models import Approval
from agent.outcomes import Handover, Point
from agent.runs import last_transaction
from intake.lifecycle import move
from intake.models import Question, RefundRequest, Return, Step
from intake.rules import for_staff
from intake.statuses import Status
from intake.timeline import Entry, shorten, write_step
from payments.money import format_minor

MANUAL_REVIEW = Approval.Recommendation.MANUAL_REVIEW
POINT_LENGTH = 240
MOST_POINTS = 5
MOST_CONCERNS = 15


@dataclass(frozen=True)
class Card:
    """A card before it is a row: JSON values as in `Approval`, `amount_minor` what approving it would pay."""

    recommendation: str
    amount_minor: int
    findings: list[dict[str, Any]] = field(default_factory=list)
    concerns: list[dict[str, Any]] = field(default_factory=list)
    failed_rules: list[dict[str, Any]] = field(default_factory=list)
    reasoning: str = ""
    counter_case: dict[str, Any] | None = None
    would_change: str = ""
    draft_question: str = ""
    require_return: bool = False


def hand_over(lease: Lease, handover: Handover) -> Approval:
    """Ends a review with staff: card, steps, move and the run's end in one transaction. Raises LeaseLost."""
    with last_transaction(lease, f"handed over: {handover.recommendation}"):
        request = RefundRequest.objects.get(pk=lease.request_id)
        approval = put_before_staff(request, card_of(handover, request), run_id=lease.run_id)
        write_step(request.pk, handed_over_step(approval, request, lease.run_id))
        write_step(request.pk, customer_messages.person_is_looking(lease.run_id))
    return approval


def put_before_staff(
    request: RefundRequest, card: Card, *, run_id: uuid.UUID | None, sources: Iterable[Status] | None = None
) -> Approval:
    """Moves the request to staff with a new open card and withdraws an open question or return.

    Belongs into the caller's transaction. Raises MoveRefused when the request may not come to staff from where it is.
    """
    move(request.pk, Status.NEEDS_APPROVAL, sources=sources)
    withdraw_what_is_out(request.pk)
    return Approval.objects.create(
        request=request,
        run_id=run_id,
        recommendation=card.recommendation,
        amount_minor=card.amount_minor,
        findings=card.findings,
        concerns=card.concerns,
        failed_rules=card.failed_rules,
        reasoning=card.reasoning,
        counter_case=card.counter_case,
        would_change=card.would_change,
        draft_question=card.draft_question,
        require_return=card.require_return,
    )


def withdraw_what_is_out(request_id: int) -> None:
    """Nobody waits for the customer's answer or parcel any more."""
    Question.objects.filter(request_id=request_id, reply=None, withdrawn_at=None).update(withdrawn_at=timezone.now())
    Return.objects.filter(request_id=request_id, status=Return.Status.WAITING).update(status=Return.Status.WITHDRAWN)


def card_of(handover: Handover, request: RefundRequest) -> Card:
    """The card of a review: failed rules first among the concerns, points cut to their number and length."""
    failed = for_staff(handover.failed_rules)
    rules = tuple(Point(verdict.sentence, handover.rules_step, "rule") for verdict in failed)
    against = strongest_reason_against(handover)
    return Card(
        recommendation=handover.recommendation,
        amount_minor=request.amount_minor,
        findings=_points(handover.findings[:MOST_POINTS]),
        concerns=_points(rules + handover.concerns[:MOST_POINTS]),
        failed_rules=[{"rule": verdict.rule, "sentence": verdict.sentence} for verdict in failed],
        reasoning=shorten(handover.reasoning, 2000),
        counter_case=_points((against,))[0] if against else None,
        would_change=shorten(handover.would_change, CHANGE_LENGTH),
        draft_question=shorten(handover.draft_question, 500),
        require_return=handover.recommendation == Approval.Recommendation.REFUND_AFTER_RETURN,
    )


def same_card_again(card: Approval, concern: str) -> Card:
    """What a closed card said, with one more concern in front: the same recommendation, the same case against it."""
    return Card(
        recommendation=card.recommendation,
        amount_minor=card.amount_minor,
        findings=card.findings,
        concerns=[_concern(concern), *card.concerns][:MOST_CONCERNS],
        failed_rules=card.failed_rules,
        reasoning=card.reasoning,
        counter_case=card.counter_case,
        would_change=card.would_change,
        draft_question=card.draft_question,
        require_return=card.require_return,
    )


def manual_card(request: RefundRequest, concern: str, *, amount_minor: int | None = None) -> Card:
    """A card by the code, not by the model: what happened, beside what the request's last card had found.

    It recommends nothing, so nothing stands against it.
    """
    amount = request.amount_minor if amount_minor is None else max(1, amount_minor)
    last = Approval.objects.filter(request=request).order_by("-opened_at", "-id").first()
    if last is None:
        return Card(recommendation=MANUAL_REVIEW, amount_minor=amount, concerns=[_concern(concern)])
    again = same_card_again(last, concern)
    return replace(
        again,
        recommendation=MANUAL_REVIEW,
        amount_minor=amount,
        counter_case=None,
        would_change="",
        draft_question="",
        require_return=False,
    )


def add_concern(request_id: int, concern: str) -> bool:
    """Puts news on the card that is open already; False: none is open."""
    card = Approval.objects.select_for_update(no_key=True).filter(request_id=request_id, closed_at=None).first()
    if card is None:
        return False
    card.concerns = [_concern(concern), *card.concerns][:MOST_CONCERNS]
    card.save(update_fields=["concerns"])
    return True


def handed_over_step(approval: Approval, request: RefundRequest, run_id: uuid.UUID | None) -> Entry:
    amount = format_minor(approval.amount_minor, request.currency)
    recommends = {
        Approval.Recommendation.REFUND: f"Recommends a refund of {amount}.",
        Approval.Recommendation.REFUND_AFTER_RETURN: f"Recommends a refund of {amount} once the item is back.",
        Approval.Recommendation.DECLINE: "Recommends to decline.",
        Approval.Recommendation.ASK_CUSTOMER: "Recommends to ask the customer.",
        MANUAL_REVIEW: "A person needs to look at it without a recommendation.",
    }
    return Entry(
        kind=Step.Kind.FINISH,
        actor=Step.Actor.AGENT,
        title="Handed over to staff",
        detail=recommends[Approval.Recommendation(approval.recommendation)],
        run_uuid=run_id,
    )


def _concern(text: str) -> dict[str, Any]:
    return _points((Point(text=text, source="code"),))[0]


def _points(points: tuple[Point, ...]) -> list[dict[str, Any]]:
    return [{"text": shorten(point.text, POINT_LENGTH), "step": point.step, "source": point.source} for point in points]
