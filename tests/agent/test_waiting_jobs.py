"""What waits for days: no answer, a return that does not come, a parcel that does, news of a refund."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from agent.models import Decision, Run
from agent.runs import claim
from agent.tasks import work
from intake.models import Question, Receipt, RefundRequest, Return
from intake.shop_clock import deadline
from payments.models import Charge, Refund
from payments.settle_refund import record_outcome
from tests.agent.agreed_return import agreed_return
from tests.agent.work_off import open_card, titles, told, wait_for, work_off
from tests.behind_the_book import behind_the_book
from tests.factories import ApprovalFactory, LineFactory, OrderFactory, RefundFactory, RequestFactory
from tests.fake_bank import FakeBank

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_review")]


def awaiting_return(*, units: int = 1, price: int = 1999, shipping: int = 0) -> RefundRequest:
    order = OrderFactory(shipping_minor=shipping)
    line = LineFactory(order=order, quantity=units, unit_price_minor=price)
    request = RequestFactory(line=line, units=units, status="awaiting_return")
    behind_the_book(Charge).update(captured_minor=line.paid_minor + shipping)
    request.runs.all().delete()
    agreed_return(request, amount_minor=line.paid_minor + shipping, shipping_minor=shipping)
    return request


def receive(request: RefundRequest, by: User, units: int = 1) -> RefundRequest:
    parcel = request.returns.get()
    Return.objects.filter(pk=parcel.pk).update(status="received")
    Receipt.objects.create(parcel=parcel, units=units, recorded_by=by, source="page")
    return work_off(request)


def news(request: RefundRequest, status: str, reason: str = "") -> RefundRequest:
    refund = Refund.objects.get(request_uuid=request.uuid)
    record_outcome(refund.pk, status=status, reason=reason, provider_reference=f"bank-{refund.key}", source="webhook")
    return work_off(request)


def refunding(status: str = "refunding", refund_status: str = "pending") -> RefundRequest:
    request = RequestFactory(status=status)
    request.runs.all().delete()
    charge = Charge.objects.get(order=request.line.order)
    RefundFactory(charge=charge, request_uuid=request.uuid, amount_minor=3400, status=refund_status)
    return request


def test_no_answer_brings_the_request_back_to_staff_with_what_was_known(maya: User) -> None:
    request = RequestFactory(status="needs_customer")
    ApprovalFactory(
        request=request, closed_at=timezone.now(), findings=[{"text": "Blank.", "step": 2, "source": "model"}]
    )
    request.runs.all().delete()
    Question.objects.create(request=request, text="?", asked_by=maya, reply_by=timezone.now() + timedelta(days=14))
    assert work_off(request).status == "needs_customer"
    assert wait_for(request, "late").status == "needs_approval"
    card = open_card(request)
    assert (card.recommendation, card.findings[0]["text"]) == ("manual_review", "Blank.")
    assert card.concerns[0]["text"] == "The customer has not answered the question within 14 days."
    assert Question.objects.get().withdrawn_at is not None
    assert told(request) == ["no_answer_yet"]


def test_a_missing_return_is_reminded_once_and_then_closed() -> None:
    request = awaiting_return()
    before = timezone.now()
    assert wait_for(request, "check").status == "awaiting_return"
    parcel, second = Return.objects.get(), Run.objects.get(trigger="check", status="queued")
    assert parcel.reminded_at is not None
    assert parcel.reminded_at >= before
    assert second.key == f"chk:{parcel.pk}:2"
    assert second.due_at == parcel.check_at == deadline(parcel.reminded_at, timedelta(minutes=10_080))
    assert told(request) == ["return_reminder"]
    assert wait_for(request, "check").status == "closed"
    assert told(request) == ["return_reminder", "closed"]
    assert Return.objects.get().status == "closed"
    assert not Run.objects.filter(status="queued").exists()
    assert not Refund.objects.exists()


def test_t12_after_an_outage_the_second_check_is_a_full_delay_after_the_late_reminder() -> None:
    request = awaiting_return()
    Return.objects.update(check_at=timezone.now() - timedelta(days=13))
    Run.objects.update(due_at=timezone.now() - timedelta(days=13))
    work_off(request)
    assert Run.objects.filter(status="queued", due_at__gt=timezone.now() + timedelta(days=6)).count() == 1
    assert told(request) == ["return_reminder"]


def test_a_check_after_the_parcel_came_has_nothing_left_to_do(maya: User) -> None:
    request = receive(awaiting_return(), maya)
    rev = request.rev
    assert wait_for(request, "check").status == "refunded"
    assert request.rev == rev


@pytest.mark.parametrize("number", [1, 2])
def test_a_parcel_that_arrives_while_a_check_looks_is_not_lost(maya: User, number: int) -> None:
    request = awaiting_return()
    if number == 2:
        wait_for(request, "check")
    run = Run.objects.get(trigger="check", status="queued")
    Run.objects.filter(pk=run.pk).update(due_at=timezone.now())
    lease = claim(run.pk)
    assert lease is not None
    Return.objects.update(status="received")
    Receipt.objects.create(parcel=Return.objects.get(), units=1, recorded_by=maya, source="page")
    Run.objects.filter(pk=run.pk).update(status="queued", token=None, lease_until=None)
    assert work_off(request).status == "refunded"
    assert Refund.objects.get().amount_minor == 1999
    assert "closed" not in told(request)


def test_m11_what_came_back_is_paid_and_not_what_was_announced(maya: User) -> None:
    request = receive(awaiting_return(units=3), maya, units=2)
    refund = Refund.objects.get()
    assert (request.status, refund.amount_minor, refund.units) == ("refunded", 3998, 2)


def test_a_full_return_is_paid_with_the_shipping_that_was_agreed(maya: User) -> None:
    receive(awaiting_return(units=3, shipping=600), maya, units=3)
    refund = Refund.objects.get()
    assert (refund.amount_minor, refund.shipping_minor) == (6597, 600)


def test_a_return_that_cannot_be_paid_any_more_comes_to_staff(maya: User) -> None:
    request = awaiting_return()
    RefundFactory(charge=Charge.objects.get(), amount_minor=1000, status="succeeded")
    assert receive(request, maya).status == "needs_approval"
    assert "at most $9.99 is left" in open_card(request).concerns[0]["text"]
    assert Refund.objects.count() == 1


def test_a_parcel_after_closing_comes_to_staff(maya: User) -> None:
    request = awaiting_return()
    wait_for(request, "check")
    wait_for(request, "check")
    assert receive(request, maya).status == "needs_approval"
    card = open_card(request)
    assert (card.recommendation, card.amount_minor) == ("manual_review", 1999)
    assert request.reopened
    assert not Refund.objects.exists()


def test_a_parcel_after_the_money_went_is_noted_and_changes_nothing(maya: User) -> None:
    request = awaiting_return()
    RefundRequest.objects.update(status="refunded")
    assert receive(request, maya).status == "refunded"
    assert titles(request) == ["A parcel arrived that nobody waited for"]
    assert not request.approvals.filter(closed_at=None).exists()


def test_a_parcel_for_a_request_that_staff_took_back_is_put_on_the_open_card(maya: User) -> None:
    request = awaiting_return()
    RefundRequest.objects.update(status="needs_approval")
    card = ApprovalFactory(request=request)
    assert receive(request, maya).status == "needs_approval"
    card.refresh_from_db()
    assert "1 of 1 units of the return RMA-ABCDEF arrived" in card.concerns[0]["text"]
    assert titles(request) == ["A parcel arrived that nobody waited for"]


def test_news_of_success_finishes_the_request() -> None:
    request = refunding()
    assert news(request, "succeeded").status == "refunded"
    assert told(request) == ["refunded"]


def test_p06_news_that_it_is_pending_is_told_once_and_never_as_failed() -> None:
    request = refunding(refund_status="reserved")
    assert news(request, "pending").status == "refunding"
    assert news(request, "succeeded").status == "refunded"
    assert told(request) == ["on_its_way", "refunded"]


def test_news_of_a_refusal_comes_to_staff_with_the_banks_reason() -> None:
    request = refunding()
    assert news(request, "failed", "account closed").status == "needs_approval"
    assert open_card(request).concerns[0]["text"] == "The bank refused the refund of $34.00: account closed."


def test_p05_a_refund_that_fails_late_comes_back_to_staff() -> None:
    request = refunding("refunded", "succeeded")
    assert news(request, "failed", "account closed").status == "needs_approval"
    assert request.reopened
    assert "after it had said it was through" in open_card(request).concerns[0]["text"]
    assert told(request) == ["refund_did_not_go_through"]
    assert Charge.objects.get().reserved_minor == 0


def test_news_of_a_run_that_died_is_not_told_twice(bank: FakeBank) -> None:
    request = refunding()
    news(request, "succeeded")
    rev = request.rev
    Run.objects.update(status="queued", tries=0)
    work(str(Run.objects.get().pk))
    request.refresh_from_db()
    assert (request.status, request.rev) == ("refunded", rev)


def test_a_parcel_the_customer_recorded_themselves_goes_before_staff(maya: User) -> None:
    request = awaiting_return()
    RefundRequest.objects.filter(pk=request.pk).update(customer=maya)
    assert receive(request, maya).status == "needs_approval"
    assert "own account recorded the parcel" in open_card(request).concerns[0]["text"]
    assert not Refund.objects.exists()


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (
            {"amount_minor": 99_000},
            "$990.00 ($6.00 of it shipping) for 3 units instead of $65.97 ($6.00 of it shipping)",
        ),
        ({"shipping_minor": 0}, "$65.97 ($0.00 of it shipping) for 3 units instead of $65.97 ($6.00 of it shipping)"),
        ({"units": 1}, "$65.97 ($6.00 of it shipping) for 1 unit instead of $65.97 ($6.00 of it shipping) for 3 units"),
    ],
)
def test_a_return_that_is_not_as_decided_is_not_paid(maya: User, changed: dict[str, int], says: str) -> None:
    request = awaiting_return(units=3, shipping=600)
    Return.objects.update(**changed)
    assert receive(request, maya, units=3).status == "needs_approval"
    card = open_card(request)
    assert card.concerns[0]["text"].startswith("The return RMA-ABCDEF is not as it was decided, so nothing was paid: ")
    assert says in card.concerns[0]["text"]
    assert (card.amount_minor, Refund.objects.count()) == (5997, 0)


def test_a_return_without_a_decision_is_not_paid(maya: User) -> None:
    request = awaiting_return()
    behind_the_book(Decision).delete()
    assert receive(request, maya).status == "needs_approval"
    assert (
        open_card(request).concerns[0]["text"]
        == "No decision stands behind the return RMA-ABCDEF, so nothing was paid."
    )
    assert not Refund.objects.exists()
