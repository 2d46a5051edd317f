"""Money is reserved only with the lease, the rules on fresh facts, and the balance."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from agent.facts import shop_day
from agent.lease import Lease, LeaseLost
from agent.models import BudgetDay, Run, Switch
from agent.outcomes import Blocked, PhotoEvidence, Reserved
from agent.pause import set_automatic_refunds
from agent.pay import judge_now, refund_automatically, refund_decided
from agent.runs import claim, give_back
from intake.models import Photo, RefundRequest
from intake.rules import failed
from payments.issue_refund import CANNOT_BE_PAID, AbovePrice, NoChargeHolds, ShippingAlreadyBack
from payments.models import Charge, Refund
from tests.agent.falsify import sql
from tests.factories import ApprovalFactory, ChargeFactory, LineFactory, RefundFactory, RequestFactory, StaffFactory

pytestmark = pytest.mark.django_db
CLEAR = PhotoEvidence(verdict="yes")


def at_work(**changes: Any) -> tuple[RefundRequest, Lease]:
    request = RequestFactory(**changes)
    lease = claim(request.runs.get().pk)
    assert lease is not None
    return request, lease


def nothing_moved(request: RefundRequest) -> bool:
    own = Refund.objects.filter(request_uuid=request.uuid)
    request.refresh_from_db()
    reserved = Charge.objects.get(order=request.line.order).reserved_minor
    return not own.exists() and request.status == "working" and reserved == 0


def blocked_by(answer: Reserved | Blocked) -> list[str]:
    assert isinstance(answer, Blocked)
    return [verdict.rule for verdict in answer.failed]


def earlier_refund(request: RefundRequest, days: int, **changes: Any) -> Refund:
    return RefundFactory(
        charge=ChargeFactory(order__customer=request.customer),
        reserved_at=timezone.now() - timedelta(days=days),
        **{"status": "succeeded", **changes},
    )


def photo(request: RefundRequest | None, digest: str = "a" * 64, **changes: Any) -> Photo:
    owner = changes.pop("owner", None) or StaffFactory()
    return Photo.objects.create(owner=owner, request=request, digest=digest, width=10, height=10, file="x.jpg")


def test_a_small_clear_case_is_reserved_with_its_verdicts() -> None:
    request, lease = at_work()
    answer = refund_automatically(lease, CLEAR)
    assert isinstance(answer, Reserved)
    refund = Refund.objects.get(pk=answer.refund_id)
    request.refresh_from_db()
    assert request.status == "refunding"
    assert (refund.amount_minor, refund.automatic, refund.run_uuid) == (3400, True, lease.run_id)
    verdicts = Run.objects.get().verdicts
    assert [verdict["outcome"] for verdict in verdicts] == ["allow"] * 8
    assert BudgetDay.objects.get().spent_minor == 3400


@pytest.mark.parametrize(("price", "paid"), [(4999, True), (5000, True), (5001, False)])
def test_the_limit_at_its_edge(price: int, paid: bool) -> None:
    _, lease = at_work(line__unit_price_minor=price)
    assert isinstance(refund_automatically(lease, CLEAR), Reserved) is paid


@pytest.mark.parametrize(("days", "paid"), [(30, True), (31, False)])
def test_the_window_at_its_edge(days: int, paid: bool) -> None:
    _, lease = at_work(line__delivered_at=timezone.now() - timedelta(days=days))
    assert isinstance(refund_automatically(lease, CLEAR), Reserved) is paid


@pytest.mark.parametrize(("days", "paid"), [(89, False), (90, False), (91, True)])
def test_the_history_at_its_edge_on_any_order(days: int, paid: bool) -> None:
    request, lease = at_work()
    earlier_refund(request, days)
    assert isinstance(refund_automatically(lease, CLEAR), Reserved) is paid


def test_m16_a_failed_refund_does_not_count_and_one_in_flight_does() -> None:
    request, lease = at_work()
    earlier_refund(request, 10, status="failed")
    earlier_refund(request, 1, status="pending")
    assert blocked_by(refund_automatically(lease, CLEAR)) == ["history"]
    assert nothing_moved(request)


@pytest.mark.parametrize("verdict", ["no", "unclear", None])
def test_without_a_clear_photo_nothing_is_paid(verdict: Any) -> None:
    request, lease = at_work()
    assert blocked_by(refund_automatically(lease, PhotoEvidence(verdict=verdict))) == ["photo"]
    assert nothing_moved(request)


def test_m09_another_currency_is_never_measured_against_the_limit() -> None:
    request, lease = at_work(line__order__currency="EUR", line__unit_price_minor=4500)
    assert blocked_by(refund_automatically(lease, CLEAR)) == ["limit"]
    assert nothing_moved(request)


def test_once_staff_are_in_nothing_is_paid_automatically() -> None:
    request, lease = at_work()
    ApprovalFactory(request=request, closed_at=timezone.now())
    assert blocked_by(refund_automatically(lease, CLEAR)) == ["first_review"]
    assert nothing_moved(request)


def test_the_brake_is_read_when_paying() -> None:
    request, lease = at_work()
    lead = StaffFactory(permissions=["agent.change_switch"])
    set_automatic_refunds(paused=True, by=lead)
    assert blocked_by(refund_automatically(lease, CLEAR)) == ["paused"]
    assert nothing_moved(request)
    set_automatic_refunds(paused=False, by=lead)
    assert isinstance(refund_automatically(lease, CLEAR), Reserved)


@pytest.mark.parametrize(("spent", "paid"), [(46_600, True), (46_601, False)])
def test_the_budget_of_the_shops_day(spent: int, paid: bool) -> None:
    _, lease = at_work()
    BudgetDay.objects.create(day=shop_day(timezone.now()), currency="USD", spent_minor=spent)
    assert isinstance(refund_automatically(lease, CLEAR), Reserved) is paid
    assert BudgetDay.objects.get().spent_minor == spent + (3400 if paid else 0)


def test_a_picture_of_another_request_blocks_and_names_it() -> None:
    other = RequestFactory()
    photo(other)
    request, lease = at_work()
    photo(request)
    photo(None)
    answer = refund_automatically(lease, CLEAR)
    assert blocked_by(answer) == ["photo"]
    assert isinstance(answer, Blocked)
    assert answer.failed[0].inputs["used_in"] == [other.number]
    assert nothing_moved(request)


def test_ones_own_pictures_and_unsent_uploads_are_no_reuse() -> None:
    request, lease = at_work()
    photo(request)
    photo(request)
    photo(None)
    assert isinstance(refund_automatically(lease, CLEAR), Reserved)


def test_when_no_single_charge_holds_enough_a_person_is_asked() -> None:
    line = LineFactory()
    ChargeFactory(order=line.order, captured_minor=3399)
    request, lease = at_work(line=line)
    answer = refund_automatically(lease, CLEAR)
    assert blocked_by(answer) == ["balance"]
    assert nothing_moved(request)
    assert BudgetDay.objects.get().spent_minor == 0
    assert Run.objects.get().verdicts[-1]["sentence"].endswith("at most $33.99 is left on one.")


def test_a_worker_without_the_lease_reserves_nothing() -> None:
    request, lease = at_work()
    give_back(lease)
    with pytest.raises(LeaseLost):
        refund_automatically(lease, CLEAR)
    with pytest.raises(LeaseLost):
        refund_decided(lease, amount_minor=100, shipping_minor=0, units=1)
    assert nothing_moved(request)


def test_a_decided_refund_asks_the_balance_alone() -> None:
    request, lease = at_work(line__unit_price_minor=12900)
    earlier_refund(request, 1)
    answer = refund_decided(lease, amount_minor=12900, shipping_minor=0, units=1)
    refund = Refund.objects.get(pk=answer.refund_id)
    assert (refund.amount_minor, refund.automatic) == (12900, False)
    assert not BudgetDay.objects.exists()


def test_a_decided_refund_that_no_charge_holds_changes_nothing() -> None:
    request, lease = at_work()
    with pytest.raises(NoChargeHolds):
        refund_decided(lease, amount_minor=3401, shipping_minor=1, units=1)
    with pytest.raises(ShippingAlreadyBack):
        refund_decided(lease, amount_minor=100, shipping_minor=1, units=1)
    assert nothing_moved(request)
    assert not request.steps.exists()


def test_a_request_that_stands_at_more_than_its_units_cost_is_not_paid_automatically() -> None:
    request, lease = at_work(line__unit_price_minor=1000)
    sql("UPDATE payments_charge SET captured_minor = 9000")
    sql("UPDATE intake_refundrequest SET amount_minor = 4900")
    answer = refund_automatically(lease, CLEAR)
    assert blocked_by(answer) == ["amount"]
    assert nothing_moved(request)
    assert BudgetDay.objects.get().spent_minor == 0
    sentence = "The request stands at $49.00, and by what was paid its units cost $10.00."
    assert Run.objects.get().verdicts[-1]["sentence"] == sentence
    assert failed(judge_now(request.pk, CLEAR))[-1].sentence == sentence


@pytest.mark.parametrize(("goods", "units"), [(1001, 1), (501, 1), (1001, 2), (1001, 3)])
def test_more_than_the_units_cost_is_not_paid_by_decision_either(goods: int, units: int) -> None:
    line = LineFactory(quantity=2, unit_price_minor=500)
    request, lease = at_work(line=line, units=2)
    sql("UPDATE payments_charge SET captured_minor = 9000")
    sql("UPDATE intake_refundrequest SET amount_minor = 4900")
    line.order.shipping_minor = 300
    line.order.save()
    with pytest.raises(CANNOT_BE_PAID) as refused:
        refund_decided(lease, amount_minor=goods + 300, shipping_minor=300, units=units)
    assert isinstance(refused.value, AbovePrice)
    assert refused.value.most_minor == (500 if units == 1 else 1000)
    assert nothing_moved(request)


def test_each_of_two_requests_of_a_line_has_its_own_share_of_the_price() -> None:
    line = LineFactory(quantity=3, unit_price_minor=334, paid_minor=1000)
    RequestFactory(line=line, units=1, amount_minor=333, status="declined")
    _, lease = at_work(line=line, units=1, amount_minor=334)
    assert isinstance(refund_automatically(lease, CLEAR), Reserved)


def test_judging_for_a_card_pays_nothing() -> None:
    request, _ = at_work(line__unit_price_minor=12900)
    verdicts = judge_now(request.pk, PhotoEvidence())
    assert [verdict.rule for verdict in failed(verdicts)] == ["limit", "photo"]
    assert nothing_moved(request)


def test_an_automatic_refund_asks_the_database_a_fixed_number_of_times(django_assert_max_num_queries: Any) -> None:
    request, lease = at_work()
    for days in range(91, 99):
        earlier_refund(request, days)
    Switch.objects.create(name=Switch.AUTOMATIC_REFUNDS)
    with django_assert_max_num_queries(32):
        refund_automatically(lease, CLEAR)
