"""Money that went back by hand between a decision and its payment is perhaps the same money: staff decide again."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from agent.decide import decide
from agent.models import Approval, ChainRecord, Decision
from intake.models import RefundRequest
from intake.record_receipt import record_receipt
from intake.shop_clock import day_name
from payments.models import Charge, OrderLine, Refund, RefundOutcome
from tests.agent.work_off import open_card, told, work_off
from tests.behind_the_book import behind_the_book
from tests.factories import ApprovalFactory, ChargeFactory, RefundFactory, RequestFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_review", "rung")]
YESTERDAY = timedelta(days=1)


@pytest.fixture
def card(db: None) -> Approval:
    request = RequestFactory(line__unit_price_minor=12_900, status="needs_approval")
    request.runs.all().delete()
    behind_the_book(Charge).update(captured_minor=50_000)
    return ApprovalFactory(request=request)


def by_hand(charge: Charge, *, status: str = "succeeded", heard_ago: timedelta = timedelta()) -> Refund:
    made_at = timezone.now() - YESTERDAY
    refund: Refund = RefundFactory(
        charge=charge, request_uuid=None, key="external_re_1", amount_minor=12_900, status=status, reserved_at=made_at
    )
    at = timezone.now() - heard_ago
    RefundOutcome.objects.create(refund=refund, status=status, source="webhook", created_at=at)
    return refund


def approve(card: Approval, by: User, *, require_return: bool = False) -> RefundRequest:
    decide(approval_id=card.pk, by=by, choice="approve", require_return=require_return, source="desk")
    request: RefundRequest = card.request
    return request


def stopped(request: RefundRequest, refund: Refund) -> None:
    assert work_off(request).status == "needs_approval"
    again = open_card(request)
    day = day_name(refund.reserved_at)
    assert again.concerns[0]["text"] == (
        f"$129.00 of this order went back by hand at the payment provider on {day}, and the shop heard of it only "
        "after this was decided or in the ten minutes before. Decide again whether more is to be paid."
    )
    assert again.amount_minor == 12_900
    assert list(Refund.objects.filter(request_uuid=request.uuid)) == []
    assert Charge.objects.get(pk=refund.charge_id).reserved_minor == 12_900
    assert not ChainRecord.objects.filter(kind="reserve").exists()
    assert "refunded" not in told(request)


@pytest.mark.parametrize("captured_minor", [50_000, 13_000], ids=["enough left", "too little left"])
def test_a_decision_from_before_is_not_paid_and_a_new_one_is(card: Approval, maya: User, captured_minor: int) -> None:
    behind_the_book(Charge).update(captured_minor=captured_minor)
    request = approve(card, maya)
    stopped(request, by_hand(Charge.objects.get()))
    assert Decision.objects.get().carried_out_at is not None
    if captured_minor == 50_000:
        approve(open_card(request), maya)
        assert work_off(request).status == "refunded"
        assert Refund.objects.get(request_uuid=request.uuid).amount_minor == 12_900


def test_a_return_agreed_before_is_not_paid(card: Approval, maya: User) -> None:
    request = approve(card, maya, require_return=True)
    assert work_off(request).status == "awaiting_return"
    refund = by_hand(Charge.objects.get())
    record_receipt(request_uuid=request.uuid, by=maya, source="page")
    stopped(request, refund)


@pytest.mark.parametrize(("minutes", "stops"), [(9, True), (11, False)])
def test_what_was_heard_of_while_a_person_read_the_card_may_not_have_been_seen(
    card: Approval, maya: User, minutes: int, stops: bool
) -> None:
    Approval.objects.update(opened_at=timezone.now() - YESTERDAY)
    refund = by_hand(Charge.objects.get(), heard_ago=timedelta(minutes=minutes))
    request = approve(card, maya)
    if stops:
        stopped(request, refund)
        approve(open_card(request), maya)
    assert work_off(request).status == "refunded"


@pytest.mark.parametrize("why", ["known before", "failed", "of another order"])
def test_what_cannot_be_the_same_money_stops_nothing(card: Approval, maya: User, why: str) -> None:
    charge = ChargeFactory(captured_minor=50_000) if why == "of another order" else Charge.objects.get()
    by_hand(
        charge,
        status="failed" if why == "failed" else "succeeded",
        heard_ago=timedelta(seconds=1) if why == "known before" else timedelta(),
    )
    request = approve(card, maya)
    if why != "known before":
        behind_the_book(RefundOutcome).update(created_at=timezone.now() + timedelta(seconds=1))
    assert work_off(request).status == "refunded"
    assert Refund.objects.filter(request_uuid=request.uuid).count() == 1


def test_more_than_the_units_cost_goes_before_staff_with_their_price(card: Approval, maya: User) -> None:
    request = approve(card, maya)
    OrderLine.objects.update(paid_minor=5_000)
    assert work_off(request).status == "needs_approval"
    assert open_card(request).concerns[0]["text"] == (
        "The customer paid $50.00 for these units, and more than that was to go back. Look at the order."
    )
    assert (Refund.objects.count(), Charge.objects.get().reserved_minor) == (0, 0)
