"""The money cases of the field reports (tests/field/scenarios/money_cases.json), each at the code that answers it."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from payments.issue_refund import NoChargeHolds, ShippingAlreadyBack, issue_refund
from payments.models import Charge, Order, Refund
from payments.money import parse_amount, share_of_paid
from payments.settle_refund import settle_refund
from tests.factories import ChargeFactory, LineFactory, OrderFactory, RefundFactory
from tests.fake_bank import FakeBank

CASES_FILE = Path(__file__).parents[1] / "field" / "scenarios" / "money_cases.json"
CASES: dict[str, dict[str, Any]] = {case["id"]: case for case in json.loads(CASES_FILE.read_text())["cases"]}


def refund(order: Order, amount_minor: int, *, shipping_minor: int = 0) -> Refund:
    with transaction.atomic():
        return issue_refund(
            order_id=order.pk,
            line_id=None,
            request_uuid=uuid.uuid4(),
            run_uuid=None,
            units=1,
            amount_minor=amount_minor,
            shipping_minor=shipping_minor,
            currency=order.currency,
            automatic=False,
        )


def test_m01_three_units_one_by_one_give_back_exactly_what_was_paid() -> None:
    case = CASES["m01"]
    paid, shares, before = parse_amount(case["line_paid"], "USD"), [], 0
    for units in case["refund_units"]:
        shares.append(share_of_paid(paid, case["units"], units, before))
        before += units
    assert shares == [1000, 999, 1000]
    assert sum(shares) == paid


def test_m02_a_whole_order_gives_back_what_was_captured_and_not_a_sum_of_rounded_units() -> None:
    case = CASES["m02"]
    paid = parse_amount(case["order_paid"], "USD")
    one_by_one = [share_of_paid(paid, case["units"], 1, before) for before in range(case["units"])]
    assert sum(one_by_one) == share_of_paid(paid, case["units"], case["units"], 0) == parse_amount("83.64", "USD")


@pytest.mark.django_db
def test_m03_yen_reach_the_provider_as_yen(bank: FakeBank) -> None:
    case = CASES["m03"]
    order = OrderFactory(currency="JPY")
    ChargeFactory(order=order, captured_minor=3400, provider="bank")
    settle_refund(refund(order, parse_amount(case["paid"], "JPY")).pk, "run")
    assert [(asked.amount_minor, asked.currency) for asked in bank.asked] == [(case["expected_provider_amount"], "JPY")]


@pytest.mark.django_db
def test_m05_more_than_was_captured_is_refused_before_any_provider_is_asked(bank: FakeBank) -> None:
    case = CASES["m05"]
    charge = ChargeFactory(captured_minor=parse_amount(case["captured"], "USD"), provider="bank")
    with pytest.raises(NoChargeHolds) as refused:
        refund(charge.order, parse_amount(case["claim"], "USD"))
    assert refused.value.largest_left_minor == 6000
    assert not Refund.objects.exists()
    assert bank.asked == []


@pytest.mark.django_db
def test_m06_of_two_claims_on_the_last_money_one_is_paid() -> None:
    case = CASES["m06"]
    charge = ChargeFactory(captured_minor=parse_amount(case["captured"], "USD"))
    RefundFactory(charge=charge, amount_minor=parse_amount(case["refunded_before"], "USD"), status="succeeded")
    claims = [parse_amount(claim, "USD") for claim in case["parallel_claims"]]
    refund(charge.order, claims[0])
    with pytest.raises(NoChargeHolds):
        refund(charge.order, claims[1])
    charge.refresh_from_db()
    assert (charge.reserved_minor, Refund.objects.count()) == (4000, 2)


def test_m11_two_of_three_announced_units_are_paid() -> None:
    agreed = 3 * parse_amount("19.99", "USD")
    assert share_of_paid(agreed, 3, 2, 0) == parse_amount("39.98", "USD")


@pytest.mark.django_db
def test_m14_shipping_goes_back_at_most_once() -> None:
    order = OrderFactory(shipping_minor=600)
    LineFactory(order=order, quantity=3, unit_price_minor=2000)
    charge = ChargeFactory(order=order, captured_minor=6600)
    refund(order, 4600, shipping_minor=600)
    with pytest.raises(ShippingAlreadyBack) as refused:
        refund(order, 2000, shipping_minor=1)
    assert refused.value.left_minor == 0
    refund(order, 2000)
    charge.refresh_from_db()
    assert charge.reserved_minor == Charge.objects.get().captured_minor


@pytest.mark.django_db
def test_shipping_of_a_failed_refund_may_go_back_later() -> None:
    order = OrderFactory(shipping_minor=600)
    charge = ChargeFactory(order=order, captured_minor=6600)
    RefundFactory(charge=charge, amount_minor=2600, shipping_minor=600, status="failed")
    assert refund(order, 2600, shipping_minor=600).shipping_minor == 600
