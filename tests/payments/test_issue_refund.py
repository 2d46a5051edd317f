from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.db import transaction

from payments.issue_refund import NoChargeHolds, RefundInFlight, issue_refund
from payments.models import Charge, Refund
from tests.factories import ChargeFactory, OrderFactory, RefundFactory

pytestmark = pytest.mark.django_db


def reserve(order_id: int, **changes: Any) -> Refund:
    given: dict[str, Any] = {
        "order_id": order_id,
        "line_id": None,
        "request_uuid": uuid.uuid4(),
        "run_uuid": None,
        "units": 1,
        "amount_minor": 3400,
        "currency": "USD",
        "automatic": False,
    }
    with transaction.atomic():
        return issue_refund(**{**given, **changes})


def test_a_refund_is_reserved_on_its_charge_and_keeps_its_card() -> None:
    charge = ChargeFactory(captured_minor=3400, card_brand="Amex", card_last4="0005")
    request_uuid = uuid.uuid4()
    refund = reserve(charge.order_id, request_uuid=request_uuid)
    charge.refresh_from_db()
    assert charge.reserved_minor == 3400
    assert (refund.status, refund.key, refund.attempt) == ("reserved", f"refund_{request_uuid}", 1)
    assert refund.reference.startswith("re_")
    assert (refund.card_brand, refund.card_last4) == ("Amex", "0005")


def test_the_first_charge_that_holds_enough_pays() -> None:
    order = OrderFactory()
    ChargeFactory(order=order, captured_minor=1000)
    full = ChargeFactory(order=order, captured_minor=5000)
    ChargeFactory(order=order, captured_minor=9000)
    assert reserve(order.pk).charge_id == full.pk


def test_two_charges_are_never_added_up() -> None:
    order = OrderFactory()
    ChargeFactory(order=order, captured_minor=3000)
    ChargeFactory(order=order, captured_minor=3399)
    with pytest.raises(NoChargeHolds) as refused:
        reserve(order.pk)
    assert refused.value.largest_left_minor == 3399
    assert set(Charge.objects.values_list("reserved_minor", flat=True)) == {0}


def test_a_charge_in_another_currency_does_not_count() -> None:
    order = OrderFactory()
    ChargeFactory(order=order, currency="EUR", captured_minor=9000)
    with pytest.raises(NoChargeHolds) as refused:
        reserve(order.pk)
    assert refused.value.largest_left_minor == 0


@pytest.mark.parametrize("status", ["reserved", "pending", "succeeded"])
def test_a_request_with_a_live_refund_gets_no_second_one(status: str) -> None:
    refund = RefundFactory(status=status)
    with pytest.raises(RefundInFlight):
        reserve(refund.charge.order_id, request_uuid=refund.request_uuid)
    assert Refund.objects.count() == 1
    assert Charge.objects.get().reserved_minor == refund.amount_minor


def test_an_attempt_after_a_failed_one_has_a_key_of_its_own() -> None:
    failed = RefundFactory(status="failed")
    again = reserve(failed.charge.order_id, request_uuid=failed.request_uuid)
    assert (again.attempt, again.key) == (2, f"refund_{failed.request_uuid}_2")


@pytest.mark.django_db(transaction=True)
def test_money_is_reserved_only_inside_a_transaction() -> None:
    charge = ChargeFactory()
    with pytest.raises(RuntimeError):
        issue_refund(
            order_id=charge.order_id,
            line_id=None,
            request_uuid=uuid.uuid4(),
            run_uuid=None,
            units=1,
            amount_minor=100,
            currency="USD",
            automatic=False,
        )
    assert not Refund.objects.exists()
