"""The money cases of the field reports (tests/field/scenarios/money_cases.json), down to what reaches the provider."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from agent.outcomes import Blocked, PhotoEvidence, Reserved
from agent.pay import refund_automatically
from agent.runs import claim
from intake.models import RefundRequest
from intake.record_receipt import record_receipt
from payments.issue_refund import NoChargeHolds, ShippingAlreadyBack, issue_refund
from payments.models import Order, Refund
from payments.money import format_minor, parse_amount, share_of_paid
from payments.settle_refund import settle_refund
from tests.agent.agreed_return import agreed_return
from tests.agent.test_races import at_once, count
from tests.agent.work_off import work_off
from tests.factories import ChargeFactory, LineFactory, OrderFactory, RefundFactory, RequestFactory, StaffFactory
from tests.payments.scenarios import Case, cents, how_many, how_often, numbers, untested
from tests.payments.stripe_rows import fresh, held, paid
from tests.stripe_server import StripeServer


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


def goes_to(answer: Reserved | Blocked) -> str:
    return "auto" if isinstance(answer, Reserved) else "staff"


def asks_because_of(answer: Reserved | Blocked) -> list[str]:
    assert isinstance(answer, Blocked)
    return [verdict.rule for verdict in answer.failed]


def test_no_money_case_of_the_file_is_left_out() -> None:
    assert untested("money_cases.json", globals()) == []


@pytest.mark.django_db
def test_m01_three_units_one_by_one_give_back_exactly_what_was_paid(case: Case, stripe_server: StripeServer) -> None:
    line_paid, before = parse_amount(case["line_paid"], "USD"), 0
    charge = paid(stripe_server, line_paid)
    for units in case["refund_units"]:
        share = share_of_paid(line_paid, case["units"], units, before)
        assert refund(charge.order, share).status == "succeeded"
        before += units
    assert sorted(sent(stripe_server)) == sorted(parse_amount(amount, "USD") for amount in case["expected"])
    assert sum(sent(stripe_server)) == line_paid


@pytest.mark.django_db
def test_m02_a_whole_order_gives_back_what_was_captured_and_not_a_sum_of_rounded_units(
    case: Case, stripe_server: StripeServer
) -> None:
    order_paid, units = parse_amount(case["order_paid"], "USD"), case["units"]
    one_by_one = [share_of_paid(order_paid, units, 1, before) for before in range(units)]
    assert sum(one_by_one) == order_paid
    charge = paid(stripe_server, order_paid)
    refund(charge.order, share_of_paid(order_paid, units, units, 0))
    assert sent(stripe_server) == [parse_amount(case["expected"], "USD")]
    assert sent(stripe_server) != [parse_amount(case["naive_sum"], "USD")]


@pytest.mark.django_db
def test_m03_yen_reach_the_provider_as_yen(case: Case, stripe_server: StripeServer) -> None:
    charge = paid(stripe_server, parse_amount(case["paid"], "JPY"), currency="JPY", order__currency="JPY")
    row = refund(charge.order, parse_amount(case["paid"], "JPY"))
    assert sent(stripe_server) == [case["expected_provider_amount"]]
    assert not set(sent(stripe_server)) & set(case["wrong_seen"])
    assert format_minor(row.amount_minor, row.currency) == "¥3,400"


@pytest.mark.django_db
def test_m03_the_shops_own_book_keeps_yen_and_fils_as_they_are() -> None:
    for currency, amount in (("JPY", 3400), ("KWD", 1234)):
        charge = ChargeFactory(order__currency=currency, captured_minor=amount)
        row = refund(charge.order, amount)
        assert (row.status, row.amount_minor, held(row)) == ("succeeded", amount, amount)


@pytest.mark.django_db
def test_m05_more_than_was_captured_is_refused_before_any_provider_is_asked(
    case: Case, stripe_server: StripeServer
) -> None:
    at_most, _ = cents(case.expected)
    charge = paid(stripe_server, parse_amount(case["captured"], "USD"))
    with pytest.raises(NoChargeHolds) as refused:
        refund(charge.order, parse_amount(case["claim"], "USD"))
    assert refused.value.largest_left_minor == at_most
    assert not Refund.objects.exists()
    assert stripe_server.asked == []


@pytest.mark.django_db(transaction=True)
def test_m06_of_two_claims_on_the_last_money_at_once_one_is_paid(case: Case, stripe_server: StripeServer) -> None:
    amount, total = cents(case.expected)
    charge = paid(stripe_server, parse_amount(case["captured"], "USD"))
    before = refund(charge.order, parse_amount(case["refunded_before"], "USD"))
    claims = [parse_amount(claim, "USD") for claim in case["parallel_claims"]]
    answers = at_once(*[lambda claim=claim: refund(charge.order, claim) for claim in claims])
    paid_out = how_many(case.expected, "refund")
    assert (count(answers, Refund), count(answers, NoChargeHolds)) == (paid_out, len(claims) - paid_out)
    assert sent(stripe_server) == [before.amount_minor] + [amount] * paid_out
    assert (held(before), Refund.objects.count()) == (total, 1 + paid_out)


@pytest.mark.django_db
def test_m08_the_limit_is_a_limit_to_the_cent(case: Case, stripe_server: StripeServer) -> None:
    *edges, thousandths = case["cases"]
    for amount, expected in edges:
        answer = reviewed(asked_for(stripe_server, parse_amount(amount, "USD")))
        assert goes_to(answer) == expected, amount
        if expected == "staff":
            assert asks_because_of(answer) == ["limit"]
    assert sent(stripe_server) == [parse_amount(amount, "USD") for amount, expected in edges if expected == "auto"]
    assert "impossible" in thousandths[1]
    with pytest.raises(ValueError, match="at most 2 decimals"):
        parse_amount(thousandths[0].split()[0], "USD")


@pytest.mark.django_db
def test_m09_euros_are_never_measured_in_dollars(case: Case, stripe_server: StripeServer) -> None:
    [price] = cents(case["say"])
    answer = reviewed(asked_for(stripe_server, price, currency=case["currency"]))
    assert goes_to(answer) == case.expected.partition(":")[0]
    assert asks_because_of(answer) == ["limit"]
    assert (Refund.objects.count(), stripe_server.posts) == (0, [])


@pytest.mark.django_db
def test_m11_two_of_three_announced_units_are_paid(case: Case, stripe_server: StripeServer) -> None:
    [price], [announced, *_, counted] = cents(case["say"]), numbers(case["say"])
    due, announced_amount = cents(case.expected)
    line = LineFactory(quantity=announced, unit_price_minor=price)
    paid(stripe_server, line.paid_minor, order=line.order)
    request = RequestFactory(line=line, units=announced, status="awaiting_return")
    request.runs.all().delete()
    agreed_return(request, amount_minor=line.paid_minor)
    record_receipt(request_uuid=request.uuid, by=StaffFactory(), units=counted, source="page")
    assert work_off(request).status == "refunded"
    assert sent(stripe_server) == [due]
    assert line.paid_minor == announced_amount


@pytest.mark.django_db
def test_m14_shipping_goes_back_at_most_once(case: Case, stripe_server: StripeServer) -> None:
    [shipping] = cents(case["say"])
    order = OrderFactory(shipping_minor=shipping)
    LineFactory(order=order, quantity=3, unit_price_minor=2000)
    paid(stripe_server, 6600, order=order)
    refund(order, 4000 + shipping, shipping_minor=shipping)
    with pytest.raises(ShippingAlreadyBack) as refused:
        refund(order, 2000, shipping_minor=1)
    assert refused.value.left_minor == 0
    assert held(refund(order, 2000)) == 6600
    assert sent(stripe_server) == [4600, 2000]
    back = sum(Refund.objects.values_list("shipping_minor", flat=True))
    assert back == how_often(case.expected, "at most") * shipping


@pytest.mark.django_db
def test_shipping_of_a_failed_refund_may_go_back_later() -> None:
    order = OrderFactory(shipping_minor=600)
    charge = ChargeFactory(order=order, captured_minor=6600)
    RefundFactory(charge=charge, amount_minor=2600, shipping_minor=600, status="failed")
    assert refund(order, 2600, shipping_minor=600).shipping_minor == 600


@pytest.mark.django_db
def test_m16_a_refund_of_89_days_ago_asks_staff_and_a_failed_one_does_not_count(
    case: Case, stripe_server: StripeServer
) -> None:
    amount, days, failed_days = numbers(case["say"])
    assert case.expected.startswith(f"staff because of the {days}-day one; the failed one alone would not count")
    request = asked_for(stripe_server, 2000)
    earlier = OrderFactory(customer=request.customer)
    charge = paid(stripe_server, 5000, order=earlier)
    stripe_server.becomes = {"status": "failed", "failure_reason": "declined"}
    assert refund(earlier, 1500).status == "failed"
    stripe_server.becomes = {"status": "succeeded"}
    assert isinstance(reviewed(request), Reserved)

    other = asked_for(stripe_server, 2000, order__customer=OrderFactory().customer)
    old = paid(stripe_server, 5000, order=OrderFactory(customer=other.customer))
    now = timezone.now()
    paid_then = {"amount_minor": amount * 100, "reserved_at": now - timedelta(days=days)}
    RefundFactory(charge=old, status="succeeded", **paid_then)
    RefundFactory(charge=old, amount_minor=1000, status="failed", reserved_at=now - timedelta(days=failed_days))
    assert asks_because_of(reviewed(other)) == ["history"]
    assert fresh(Refund.objects.filter(charge=charge).get()).status == "failed"
