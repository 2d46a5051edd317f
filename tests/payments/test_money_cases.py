"""The money cases of the field reports (tests/field/scenarios/money_cases.json), down to what reaches the provider."""

from __future__ import annotations

import json
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from agent.outcomes import Blocked, PhotoEvidence, Reserved
from agent.pay import refund_automatically
from agent.runs import claim
from intake.models import RefundRequest, Return
from intake.record_receipt import record_receipt
from payments.issue_refund import NoChargeHolds, ShippingAlreadyBack, issue_refund
from payments.models import Order, Refund
from payments.money import format_minor, parse_amount, share_of_paid
from payments.settle_refund import settle_refund
from tests.agent.test_races import at_once, count
from tests.agent.work_off import work_off
from tests.factories import ChargeFactory, LineFactory, OrderFactory, RefundFactory, RequestFactory, StaffFactory
from tests.payments.scenarios import SCENARIOS, untested
from tests.payments.stripe_rows import fresh, held, paid
from tests.stripe_server import StripeServer

FILE = json.loads((SCENARIOS / "money_cases.json").read_text())
CASES: dict[str, dict[str, Any]] = {case["id"]: case for case in FILE["cases"]}


def refund(order: Order, amount_minor: int, *, shipping_minor: int = 0) -> Refund:
    """Reserved and brought to its provider."""
    with transaction.atomic():
        row = issue_refund(
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
    return settle_refund(row.pk, "run")


def sent(server: StripeServer) -> list[int]:
    """The amounts of every refund Stripe was asked for, in its units."""
    return [int(asked.values["amount"]) for asked in server.posts]


def asked_for(server: StripeServer, price: int, *, currency: str = "USD", **customer: Any) -> RefundRequest:
    """A clear request for a line paid at Stripe."""
    line = LineFactory(unit_price_minor=price, order__currency=currency, **customer)
    paid(server, price, order=line.order)
    return RequestFactory(line=line)


def reviewed(request: RefundRequest) -> Reserved | Blocked:
    """What the agent may do by itself with a picture that shows the damage."""
    lease = claim(request.runs.get().pk)
    assert lease is not None
    answer = refund_automatically(lease, PhotoEvidence(verdict="yes"))
    if isinstance(answer, Reserved):
        settle_refund(answer.refund_id, "run")
    return answer


def asks_because_of(answer: Reserved | Blocked) -> list[str]:
    assert isinstance(answer, Blocked)
    return [verdict.rule for verdict in answer.failed]


def test_no_money_case_of_the_file_is_left_out() -> None:
    assert untested("money_cases.json", globals()) == []


@pytest.mark.django_db
def test_m01_three_units_one_by_one_give_back_exactly_what_was_paid(stripe_server: StripeServer) -> None:
    case = CASES["m01"]
    line_paid, before = parse_amount(case["line_paid"], "USD"), 0
    charge = paid(stripe_server, line_paid)
    for units in case["refund_units"]:
        share = share_of_paid(line_paid, case["units"], units, before)
        assert refund(charge.order, share).status == "succeeded"
        before += units
    assert sent(stripe_server) == [1000, 999, 1000]
    assert sum(sent(stripe_server)) == line_paid


@pytest.mark.django_db
def test_m02_a_whole_order_gives_back_what_was_captured_and_not_a_sum_of_rounded_units(
    stripe_server: StripeServer,
) -> None:
    case = CASES["m02"]
    order_paid, units = parse_amount(case["order_paid"], "USD"), case["units"]
    one_by_one = [share_of_paid(order_paid, units, 1, before) for before in range(units)]
    assert sum(one_by_one) == order_paid
    charge = paid(stripe_server, order_paid)
    refund(charge.order, share_of_paid(order_paid, units, units, 0))
    assert sent(stripe_server) == [parse_amount(case["expected"], "USD")]


@pytest.mark.django_db
def test_m03_yen_reach_the_provider_as_yen(stripe_server: StripeServer) -> None:
    case = CASES["m03"]
    charge = paid(stripe_server, parse_amount(case["paid"], "JPY"), currency="JPY", order__currency="JPY")
    row = refund(charge.order, parse_amount(case["paid"], "JPY"))
    assert sent(stripe_server) == [case["expected_provider_amount"]]
    assert format_minor(row.amount_minor, row.currency) == "¥3,400"


@pytest.mark.django_db
def test_m03_the_shops_own_book_keeps_yen_and_fils_as_they_are() -> None:
    for currency, amount in (("JPY", 3400), ("KWD", 1234)):
        charge = ChargeFactory(order__currency=currency, captured_minor=amount)
        row = refund(charge.order, amount)
        assert (row.status, row.amount_minor, held(row)) == ("succeeded", amount, amount)


@pytest.mark.django_db
def test_m05_more_than_was_captured_is_refused_before_any_provider_is_asked(stripe_server: StripeServer) -> None:
    case = CASES["m05"]
    charge = paid(stripe_server, parse_amount(case["captured"], "USD"))
    with pytest.raises(NoChargeHolds) as refused:
        refund(charge.order, parse_amount(case["claim"], "USD"))
    assert refused.value.largest_left_minor == 6000
    assert not Refund.objects.exists()
    assert stripe_server.asked == []


@pytest.mark.django_db(transaction=True)
def test_m06_of_two_claims_on_the_last_money_at_once_one_is_paid(stripe_server: StripeServer) -> None:
    case = CASES["m06"]
    charge = paid(stripe_server, parse_amount(case["captured"], "USD"))
    before = refund(charge.order, parse_amount(case["refunded_before"], "USD"))
    claims = [parse_amount(claim, "USD") for claim in case["parallel_claims"]]
    answers = at_once(*[lambda claim=claim: refund(charge.order, claim) for claim in claims])
    assert (count(answers, Refund), count(answers, NoChargeHolds)) == (1, 1)
    assert sent(stripe_server) == [2500, 1500]
    assert (held(before), Refund.objects.count()) == (4000, 2)


@pytest.mark.django_db
def test_m08_the_limit_is_a_limit_to_the_cent(stripe_server: StripeServer) -> None:
    *edges, thousandths = CASES["m08"]["cases"]
    for amount, expected in edges:
        answer = reviewed(asked_for(stripe_server, parse_amount(amount, "USD")))
        assert isinstance(answer, Reserved) == (expected == "auto"), amount
        if expected == "staff":
            assert asks_because_of(answer) == ["limit"]
    assert sent(stripe_server) == [4999, 5000]
    with pytest.raises(ValueError, match="at most 2 decimals"):
        parse_amount(thousandths[0].split()[0], "USD")


@pytest.mark.django_db
def test_m09_euros_are_never_measured_in_dollars(stripe_server: StripeServer) -> None:
    assert asks_because_of(reviewed(asked_for(stripe_server, 4500, currency=CASES["m09"]["currency"]))) == ["limit"]
    assert (Refund.objects.count(), stripe_server.asked) == (0, [])


@pytest.mark.django_db
def test_m11_two_of_three_announced_units_are_paid(stripe_server: StripeServer) -> None:
    price, announced, counted = parse_amount("19.99", "USD"), 3, 2
    line = LineFactory(quantity=announced, unit_price_minor=price)
    paid(stripe_server, line.paid_minor, order=line.order)
    request = RequestFactory(line=line, units=announced, status="awaiting_return")
    request.runs.all().delete()
    now = timezone.now()
    days = {"ship_by": now + timedelta(days=7), "check_at": now + timedelta(days=7)}
    Return.objects.create(request=request, code="RMA-ABCDEF", amount_minor=line.paid_minor, **days)
    record_receipt(request_uuid=request.uuid, by=StaffFactory(), units=counted, source="page")
    assert work_off(request).status == "refunded"
    assert sent(stripe_server) == [parse_amount(CASES["m11"]["expected"].partition(",")[0], "USD")]


@pytest.mark.django_db
def test_m14_shipping_goes_back_at_most_once(stripe_server: StripeServer) -> None:
    order = OrderFactory(shipping_minor=600)
    LineFactory(order=order, quantity=3, unit_price_minor=2000)
    paid(stripe_server, 6600, order=order)
    refund(order, 4600, shipping_minor=600)
    with pytest.raises(ShippingAlreadyBack) as refused:
        refund(order, 2000, shipping_minor=1)
    assert refused.value.left_minor == 0
    assert held(refund(order, 2000)) == 6600
    assert sent(stripe_server) == [4600, 2000]


@pytest.mark.django_db
def test_shipping_of_a_failed_refund_may_go_back_later() -> None:
    order = OrderFactory(shipping_minor=600)
    charge = ChargeFactory(order=order, captured_minor=6600)
    RefundFactory(charge=charge, amount_minor=2600, shipping_minor=600, status="failed")
    assert refund(order, 2600, shipping_minor=600).shipping_minor == 600


@pytest.mark.django_db
def test_m16_a_refund_of_89_days_ago_asks_staff_and_a_failed_one_does_not_count(stripe_server: StripeServer) -> None:
    request = asked_for(stripe_server, 2000)
    earlier = OrderFactory(customer=request.customer)
    charge = paid(stripe_server, 5000, order=earlier)
    stripe_server.becomes = {"status": "failed", "failure_reason": "declined"}
    assert refund(earlier, 1500).status == "failed"
    stripe_server.becomes = {"status": "succeeded"}
    assert isinstance(reviewed(request), Reserved)

    other = asked_for(stripe_server, 2000, order__customer=OrderFactory().customer)
    old = paid(stripe_server, 5000, order=OrderFactory(customer=other.customer))
    RefundFactory(charge=old, amount_minor=2000, status="succeeded", reserved_at=timezone.now() - timedelta(days=89))
    RefundFactory(charge=old, amount_minor=1000, status="failed", reserved_at=timezone.now() - timedelta(days=10))
    assert asks_because_of(reviewed(other)) == ["history"]
    assert fresh(Refund.objects.filter(charge=charge).get()).status == "failed"
