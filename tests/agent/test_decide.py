"""One card, one decision: who may, what must be said, and what the second of two is told."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from agent.decide import decide
from agent.models import Approval, Decision, Run
from intake.models import RefundRequest
from intake.refusals import Refusal
from tests.factories import (
    ApprovalFactory,
    ChargeFactory,
    CustomerFactory,
    LineFactory,
    OrderFactory,
    RefundFactory,
    RequestFactory,
    StaffFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def card(db: None) -> Approval:
    """A kettle of 129.00 that waits for a person, on an order that paid 6.00 of shipping."""
    order = OrderFactory(shipping_minor=600)
    ChargeFactory(order=order, captured_minor=13_500)
    line = LineFactory(order=order, unit_price_minor=12_900)
    return ApprovalFactory(request=RequestFactory(line=line, status="needs_approval"))


def refusal(card: Approval, by: User, **given: Any) -> Refusal:
    """The refusal of this answer, which also left everything as it was."""
    before = (RefundRequest.objects.values().get(), Approval.objects.values().get(), Run.objects.count())
    with pytest.raises(Refusal) as refused:
        decide(approval_id=given.pop("approval_id", card.pk), by=by, source="api", **given)
    assert not Decision.objects.exists()
    assert before == (RefundRequest.objects.values().get(), Approval.objects.values().get(), Run.objects.count())
    return refused.value


def test_approving_closes_the_card_and_sets_the_agent_to_work(card: Approval, maya: User) -> None:
    decision = decide(approval_id=str(card.pk), by=maya, choice="approve", source="desk")
    card.refresh_from_db()
    assert card.closed_at is not None
    assert card.request.status == "working"
    assert (decision.amount_minor, decision.shipping_minor, decision.require_return) == (12_900, 0, False)
    assert (decision.decided_by, decision.source) == (maya, "desk")
    assert Run.objects.filter(key=f"dec:{card.pk}", source_id=str(decision.pk), status="queued").count() == 1
    step = card.request.steps.get()
    assert (step.title, step.actor_user, step.for_customer) == (
        "Maya Okafor approved a refund of $129.00",
        maya,
        False,
    )


@pytest.mark.parametrize(
    ("given", "amount", "shipping"),
    [
        ({"amount_minor": 1}, 1, 0),
        ({"amount_minor": 12_900}, 12_900, 0),
        ({"shipping_minor": 600}, 13_500, 600),
        ({"amount_minor": 13_500, "shipping_minor": 600}, 13_500, 600),
        ({"amount_minor": 600, "shipping_minor": 600}, 600, 600),
    ],
)
def test_amounts_staff_may_approve(card: Approval, maya: User, given: Any, amount: int, shipping: int) -> None:
    decision = decide(approval_id=card.pk, by=maya, choice="approve", source="desk", **given)
    assert (decision.amount_minor, decision.shipping_minor) == (amount, shipping)


@pytest.mark.parametrize(
    ("given", "field", "says"),
    [
        ({"amount_minor": 0}, "amount", "above zero"),
        ({"amount_minor": -5}, "amount", "above zero"),
        ({"amount_minor": 12_901}, "amount", "at most $129.00"),
        ({"amount_minor": 13_501, "shipping_minor": 600}, "amount", "at most $135.00"),
        ({"amount_minor": 500, "shipping_minor": 600}, "amount", "hold the shipping"),
        ({"shipping_minor": 601}, "shipping", "$6.00 is left"),
        ({"shipping_minor": -1}, "shipping", "$6.00 is left"),
    ],
)
def test_amounts_staff_may_not_approve(card: Approval, maya: User, given: Any, field: str, says: str) -> None:
    refused = refusal(card, maya, choice="approve", **given)
    assert (refused.code, refused.field) == ("invalid_input", field)
    assert says in refused.sentence


def test_m05_staff_are_told_when_no_single_charge_holds_the_amount(card: Approval, maya: User) -> None:
    RefundFactory(charge=card.request.line.order.charges.get(), amount_minor=1000, status="pending")
    refused = refusal(card, maya, choice="approve")
    assert "at most $125.00 is left" in refused.sentence


def test_m14_shipping_that_went_back_is_not_approved_again(card: Approval, maya: User) -> None:
    charge = card.request.line.order.charges.get()
    RefundFactory(charge=charge, amount_minor=600, shipping_minor=600, status="succeeded")
    assert refusal(card, maya, choice="approve", shipping_minor=1).field == "shipping"


@pytest.mark.parametrize("note", ["  ", "\u200b\u00a0\u202e"])
@pytest.mark.parametrize("choice", ["ask_customer", "decline"])
def test_a_question_and_a_decline_need_words(card: Approval, maya: User, choice: str, note: str) -> None:
    assert refusal(card, maya, choice=choice, note=note).field == "note"


def test_the_cards_draft_is_asked_when_nothing_else_is_written(card: Approval, maya: User) -> None:
    Approval.objects.update(draft_question="Have you tried new batteries?")
    decision = decide(approval_id=card.pk, by=maya, choice="ask_customer", source="desk")
    assert (decision.note, decision.amount_minor) == ("Have you tried new batteries?", None)


@pytest.mark.parametrize(("choice", "length"), [("approve", 1001), ("decline", 1001), ("ask_customer", 501)])
def test_what_is_too_long_is_refused(card: Approval, maya: User, choice: str, length: int) -> None:
    assert refusal(card, maya, choice=choice, note="x" * length).field == "note"


def test_an_unknown_choice_is_refused(card: Approval, maya: User) -> None:
    assert refusal(card, maya, choice="refund").field == "decision"


@pytest.mark.parametrize(("asked", "kept"), [(None, True), (True, True), (False, False)])
def test_the_return_is_the_cards_unless_said_otherwise(
    card: Approval, maya: User, asked: bool | None, kept: bool
) -> None:
    Approval.objects.update(require_return=True)
    decision = decide(approval_id=card.pk, by=maya, choice="approve", require_return=asked, source="api")
    assert decision.require_return is kept


def test_only_who_may_decide_decides(card: Approval) -> None:
    nobody = StaffFactory(permissions=[])
    left = StaffFactory(is_active=False)
    customer = CustomerFactory()
    for person in (nobody, left, customer, card.request.customer):
        assert refusal(card, person, choice="approve").code == "forbidden"


@pytest.mark.parametrize("approval_id", [uuid.uuid4(), "no-card", "17"])
def test_a_card_that_does_not_exist(card: Approval, maya: User, approval_id: Any) -> None:
    assert refusal(card, maya, approval_id=approval_id, choice="approve").code == "approval_not_found"


def test_p12_the_second_of_two_is_told_who_and_when(card: Approval, maya: User) -> None:
    first = decide(approval_id=card.pk, by=maya, choice="approve", source="desk")
    with pytest.raises(Refusal) as refused:
        decide(approval_id=card.pk, by=StaffFactory(first_name="Daniel"), choice="decline", note="No", source="api")
    assert refused.value.code == "already_decided"
    assert refused.value.extra == {"by": "Maya Okafor", "at": timezone.localtime(first.created_at).isoformat()}
    assert "Maya Okafor" in refused.value.sentence
    assert Decision.objects.get() == first
    assert Run.objects.filter(trigger="decision").count() == 1


@pytest.mark.parametrize(
    ("choice", "so"), [("approve", "so there cannot be another"), ("decline", "cannot be declined")]
)
@pytest.mark.parametrize("status", ["reserved", "pending", "succeeded"])
def test_a_request_with_a_live_refund_is_neither_approved_nor_declined(
    card: Approval, maya: User, choice: str, so: str, status: str
) -> None:
    charge = card.request.line.order.charges.get()
    RefundFactory(charge=charge, request_uuid=card.request.uuid, amount_minor=100, status=status)
    refused = refusal(card, maya, choice=choice, note="No.")
    assert refused.field == "decision"
    assert so in refused.sentence
    assert refused.sentence.endswith("Leave the card as it is, or ask the customer.")


def test_after_a_failed_refund_a_request_may_be_declined(card: Approval, maya: User) -> None:
    charge = card.request.line.order.charges.get()
    RefundFactory(charge=charge, request_uuid=card.request.uuid, amount_minor=100, status="failed")
    assert decide(approval_id=card.pk, by=maya, choice="decline", note="No.", source="desk").choice == "decline"


def test_a_card_that_was_closed_without_a_decision(card: Approval, maya: User) -> None:
    Approval.objects.update(closed_at=timezone.now())
    assert refusal(card, maya, choice="approve").code == "not_waiting"


def test_nobody_decides_their_own_request(card: Approval) -> None:
    own = StaffFactory()
    RefundRequest.objects.update(customer=own)
    refused = refusal(card, own, choice="approve")
    assert (refused.code, refused.sentence) == ("forbidden", "Somebody else has to decide your own request.")


def test_a_line_break_counts_as_one_character(card: Approval, maya: User) -> None:
    note = "a\r\n" * 249 + "ab"
    decision = decide(approval_id=card.pk, by=maya, choice="ask_customer", note=note, source="desk")
    assert decision.note == "a\n" * 249 + "ab"
