"""Staff approve fewer units than were asked for: their price, their count, what comes back of them, and the book."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from agent.decide import decide
from agent.models import Approval, Decision
from agent.verify.shop import verify_shop
from intake.models import RefundRequest, Return
from intake.record_receipt import record_receipt
from intake.refusals import Refusal
from payments.models import Charge, Refund
from tests.agent.work_off import work_off
from tests.behind_the_book import behind_the_book
from tests.factories import ApprovalFactory, ChargeFactory, LineFactory, RequestFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_review")]


@pytest.fixture
def card(db: None) -> Approval:
    """Three units for 29.99, all asked for: 10.00, 9.99 and 10.00 one by one."""
    line = LineFactory(quantity=3, unit_price_minor=1000, paid_minor=2999)
    request = RequestFactory(line=line, units=3, amount_minor=2999, status="needs_approval")
    request.runs.all().delete()
    behind_the_book(Charge).update(captured_minor=2999)
    return ApprovalFactory(request=request, amount_minor=2999)


def approve(card: Approval, by: User, **given: object) -> RefundRequest:
    decide(approval_id=card.pk, by=by, choice="approve", source="desk", **given)  # type: ignore[arg-type]
    return work_off(card.request)


@pytest.mark.parametrize(("units", "price"), [(1, 1000), (2, 1999), (3, 2999)])
def test_fewer_units_are_paid_with_their_price(card: Approval, maya: User, units: int, price: int) -> None:
    request = approve(card, maya, units=units)

    refund = Refund.objects.get()
    assert (request.status, refund.units, refund.amount_minor) == ("refunded", units, price)
    assert Decision.objects.get().units == (None if units == 3 else units)
    assert verify_shop().misfits == []


def test_less_than_their_price_may_be_approved_and_more_may_not(card: Approval, maya: User) -> None:
    with pytest.raises(Refusal, match=r"Approve at most \$19\.99") as refused:
        decide(approval_id=card.pk, by=maya, choice="approve", units=2, amount_minor=2000, source="desk")
    assert refused.value.field == "amount"
    assert not Decision.objects.exists()

    approve(card, maya, units=2, amount_minor=1500)

    assert Refund.objects.values_list("units", "amount_minor").get() == (2, 1500)


@pytest.mark.parametrize("units", [0, -1, 4])
def test_units_nobody_asked_for_cannot_be_approved(card: Approval, maya: User, units: int) -> None:
    with pytest.raises(Refusal, match="approve 1 to 3 units") as refused:
        decide(approval_id=card.pk, by=maya, choice="approve", units=units, source="desk")
    assert refused.value.field == "units"
    assert not Decision.objects.exists()


def test_a_unit_that_comes_back_is_never_dearer_than_where_it_is_approved(maya: User) -> None:
    line = LineFactory(quantity=3, unit_price_minor=3333, paid_minor=10_000)
    request = RequestFactory(line=line, units=3, amount_minor=10_000, status="needs_approval", charged=False)
    request.runs.all().delete()
    ChargeFactory(order=line.order, captured_minor=10_000)
    card = ApprovalFactory(request=request, amount_minor=10_000)
    approve(card, maya, units=2, require_return=True)
    assert Return.objects.get().amount_minor == 6667

    record_receipt(request_uuid=request.uuid, by=maya, units=1, source="page")
    work_off(request)

    assert Refund.objects.values_list("units", "amount_minor").get() == (1, 3333)
    assert verify_shop().misfits == []


@pytest.mark.parametrize("choice", ["ask_customer", "decline"])
def test_units_with_another_decision_are_refused(card: Approval, maya: User, choice: str) -> None:
    with pytest.raises(Refusal, match="Leave units out"):
        decide(approval_id=card.pk, by=maya, choice=choice, note="Why?", units=1, source="api")
    assert not Decision.objects.exists()


def test_the_step_says_how_many(card: Approval, maya: User) -> None:
    request = approve(card, maya, units=1)
    assert request.steps.filter(title="Maya Okafor approved a refund of $10.00 for 1 of 3 units").count() == 1


@pytest.mark.parametrize(("came", "paid_units", "paid"), [(1, 1, 1000), (2, 2, 1999), (3, 2, 1999)])
def test_of_a_return_of_fewer_units_only_those_are_paid(
    card: Approval, maya: User, came: int, paid_units: int, paid: int
) -> None:
    request = approve(card, maya, units=2, require_return=True)
    parcel = Return.objects.get()
    assert (parcel.units, parcel.agreed_units, parcel.amount_minor) == (2, 2, 1999)
    assert "we refund $19.99 for 2 of the 3 units" in request.steps.get(message_key="return_code").detail

    record_receipt(request_uuid=request.uuid, by=maya, units=came, source="page")
    request = work_off(request)

    assert request.status == "refunded"
    assert Refund.objects.values_list("units", "amount_minor").get() == (paid_units, paid)
    assert verify_shop().misfits == []
