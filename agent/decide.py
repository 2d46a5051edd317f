"""A staff member answers a card. One way in, whatever the door; the second of two answers is told who was first."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from agent.chain import append_link
from agent.failed_attempt import failed_attempt
from agent.link_facts import decision_facts
from agent.models import Approval, ChainRecord, Decision
from intake.case_access import OWN_REQUEST, is_own_request
from intake.customer_text import one_line_end, shows_nothing
from intake.lifecycle import try_move
from intake.models import RefundRequest, Step
from intake.names import name_of
from intake.refusals import Refusal
from intake.statuses import Status
from intake.timeline import Entry, write_step
from payments.balance import has_live_refund, left_on_order
from payments.money import format_minor, share_of_paid
from payments.sendable import why_not_sendable

NOTE_LENGTH = 1000
QUESTION_LENGTH = 500
HAS_A_REFUND = "This request has a refund already, whose money is out or on its way"
INSTEAD = "Leave the card as it is, or ask the customer."
Choice = Decision.Choice


@dataclass(frozen=True)
class Answer:
    """A checked decision: `amount_minor` with shipping (None unless approved), in the request's currency."""

    choice: Decision.Choice
    note: str
    amount_minor: int | None = None
    shipping_minor: int = 0
    units: int | None = None
    require_return: bool = False


def may_decide(user: User) -> bool:
    return user.is_active and user.is_staff and user.has_perm("agent.add_decision")


def card_to_decide(approval_id: uuid.UUID | str, by: User) -> Approval:
    """The open card. Raises Refusal `forbidden`, `approval_not_found`, `already_decided` or `not_waiting`."""
    if not may_decide(by):
        raise Refusal("forbidden", "Your account may not decide requests. Ask a lead to change that.")
    card = _card(approval_id)
    if is_own_request(by, card.request):
        raise Refusal("forbidden", OWN_REQUEST)
    if card.closed_at is not None:
        raise _already_decided(card)
    return card


def decide(
    *,
    approval_id: uuid.UUID | str,
    by: User,
    choice: str,
    note: str = "",
    amount_minor: int | None = None,
    shipping_minor: int | None = None,
    units: int | None = None,
    require_return: bool | None = None,
    source: str,
) -> Decision:
    """Closes the card with a decision and sets the agent to work on it, all in one transaction.

    `units` are approved of those asked for (empty: all). `amount_minor` is the whole amount with `shipping_minor`
    (empty: 0) in it; empty: what these units cost, at most the card's amount, and the shipping. With none of the three,
    on the card of a refused refund: what that refund was. `note`
    is the question for `ask_customer` (empty: the card's draft) and the reason for `decline`. Raises Refusal
    `forbidden`, `approval_not_found`, `already_decided` (with `by`, `at`), `not_waiting` or `invalid_input`.
    """
    card = card_to_decide(approval_id, by)
    words = "" if shows_nothing(note) else one_line_end(note).strip()
    wanted = Answer(Choice.APPROVE, words, amount_minor, shipping_minor or 0, units)
    if choice == Choice.APPROVE and amount_minor is shipping_minor is units is None:
        wanted = _as_tried_before(card, wanted)
    answer = _check(card, choice, wanted, require_return)
    with transaction.atomic():
        return _close_card(card, answer, by, source)


def _as_tried_before(card: Approval, wanted: Answer) -> Answer:
    tried = failed_attempt(card)
    if tried is None:
        return wanted
    return replace(
        wanted, amount_minor=tried.amount_minor, shipping_minor=tried.shipping_minor, units=tried.units or None
    )


def _close_card(card: Approval, answer: Answer, by: User, source: str) -> Decision:
    now = timezone.now()
    if not Approval.objects.filter(pk=card.pk, closed_at=None).update(closed_at=now):
        raise _already_decided(card)
    decision = Decision.objects.create(
        approval=card,
        choice=answer.choice,
        note=answer.note,
        amount_minor=answer.amount_minor,
        shipping_minor=answer.shipping_minor,
        units=answer.units,
        require_return=answer.require_return,
        decided_by=by,
        source=source,
        created_at=now,
    )
    if not try_move(card.request_id, Status.WORKING, sources=[Status.NEEDS_APPROVAL]):
        raise Refusal("not_waiting", "The request does not wait for a decision any more. Reload the page.")
    write_step(card.request_id, _decided_step(card, answer, by))
    append_link(card.request_id, ChainRecord.Kind.DECISION, decision.pk, decision_facts(decision))
    return decision


def _card(approval_id: uuid.UUID | str) -> Approval:
    try:
        return Approval.objects.select_related("request__line__order").get(pk=approval_id)
    except (Approval.DoesNotExist, ValidationError, ValueError):
        raise Refusal("approval_not_found", "There is no such card.") from None


def _already_decided(card: Approval) -> Refusal:
    decision = Decision.objects.select_related("decided_by").filter(approval=card).first()
    if decision is None:
        return Refusal("not_waiting", "This card is closed. Reload the page to see where the request stands.")
    by = name_of(decision.decided_by)
    when = timezone.localtime(decision.created_at)
    sentence = (
        f"Already decided by {by} on {when:%B} {when.day} at {when:%H:%M}: {decision.get_choice_display().lower()}."
    )
    return Refusal("already_decided", sentence, by=by, at=when.isoformat())


def _check(card: Approval, choice: str, wanted: Answer, require_return: bool | None) -> Answer:
    note = wanted.note
    if choice not in Choice.values:
        raise _invalid("decision", "Choose one of approve, ask_customer and decline.")
    if len(note) > NOTE_LENGTH:
        raise _invalid("note", f"The note has {len(note):,} characters; at most {NOTE_LENGTH:,} fit.")
    if choice == Choice.APPROVE:
        return _check_approval(card, wanted, require_return)
    _refuse_money(wanted)
    if choice == Choice.ASK_CUSTOMER:
        question = note or card.draft_question
        if not question:
            raise _invalid("note", "Write the question the customer should answer.")
        if len(question) > QUESTION_LENGTH:
            raise _invalid("note", f"The question has {len(question):,} characters; at most {QUESTION_LENGTH} fit.")
        return Answer(choice=Choice.ASK_CUSTOMER, note=question)
    if has_live_refund(card.request.uuid):
        raise _invalid("decision", f"{HAS_A_REFUND}, so it cannot be declined. {INSTEAD}")
    if not note:
        raise _invalid("note", "Write why you decline, so that the customer can be told.")
    return Answer(choice=Choice.DECLINE, note=note)


def _refuse_money(wanted: Answer) -> None:
    """Whoever sends an amount with a question or a decline means something else than would happen."""
    money = {"units": wanted.units, "amount": wanted.amount_minor, "shipping": wanted.shipping_minor or None}
    for field, given in money.items():
        if given is not None:
            raise _invalid(field, f"Only an approval says what is paid. Leave {field} out.")


def _check_approval(card: Approval, wanted: Answer, require_return: bool | None) -> Answer:
    request, balance, shipping_minor = card.request, left_on_order(card.request.line.order), wanted.shipping_minor
    if has_live_refund(request.uuid):
        raise _invalid("decision", f"{HAS_A_REFUND}, so there cannot be another. {INSTEAD}")
    if shipping_minor < 0 or shipping_minor > balance.shipping_left_minor:
        left = format_minor(balance.shipping_left_minor, request.currency)
        raise _invalid("shipping", f"Of the shipping of this order, {left} is left to give back.")
    goods_most = _price_of(request, wanted.units)
    usual = min(card.amount_minor, goods_most) + shipping_minor
    amount = usual if wanted.amount_minor is None else wanted.amount_minor
    if amount < 1 or amount < shipping_minor:
        raise _invalid("amount", "The amount must be above zero and hold the shipping.")
    if amount - shipping_minor > goods_most:
        most = format_minor(goods_most + shipping_minor, request.currency)
        raise _invalid("amount", f"Approve at most {most}: that is what the customer paid for these units.")
    if amount > balance.largest_left_minor:
        left = format_minor(balance.largest_left_minor, request.currency)
        raise _invalid("amount", f"No single payment of this order holds that much; at most {left} is left on one.")
    unsendable = why_not_sendable(request.line.order_id, amount, request.currency)
    if unsendable:
        raise _invalid("amount", f"Write another amount: {unsendable}.")
    return Answer(
        choice=Choice.APPROVE,
        note=wanted.note,
        amount_minor=amount,
        shipping_minor=shipping_minor,
        units=None if wanted.units == request.units else wanted.units,
        require_return=card.require_return if require_return is None else require_return,
    )


def _price_of(request: RefundRequest, units: int | None) -> int:
    """What `units` of the request cost (minor units). Raises Refusal invalid_input."""
    if units is None:
        return request.amount_minor
    if not 1 <= units <= request.units:
        allowed = "1 unit" if request.units == 1 else f"1 to {request.units} units"
        raise _invalid("units", f"The request is for {request.units}; approve {allowed}.")
    price = share_of_paid(request.amount_minor, request.units, units, 0)
    if price < 1:
        raise _invalid("units", "So few units cost less than the smallest amount. Approve more of them, or decline.")
    return price


def _invalid(field: str, sentence: str) -> Refusal:
    return Refusal("invalid_input", sentence, field=field)


def _decided_step(card: Approval, answer: Answer, by: User) -> Entry:
    name = name_of(by)
    what = {Choice.ASK_CUSTOMER: "wants to ask the customer", Choice.DECLINE: "declined the request"}
    if answer.amount_minor is not None:
        amount = format_minor(answer.amount_minor, card.request.currency)
        back = " once the item is back" if answer.require_return else ""
        part = "" if answer.units is None else f" for {answer.units} of {card.request.units} units"
        what[Choice.APPROVE] = f"approved a refund of {amount}{part}{back}"
    return Entry(
        kind=Step.Kind.TRIGGER,
        actor=Step.Actor.STAFF,
        actor_user=by,
        title=f"{name} {what[answer.choice]}",
        detail=answer.note,
    )
