"""A run of news that fails for good: the money, not the failed run, says where a request belongs."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from agent.models import Run
from agent.runs import claim
from agent.sweep import take_from_the_dead
from agent.take_back import take_back
from intake.models import Receipt, RefundRequest, Return
from intake.record_receipt import record_receipt
from payments.models import Charge, Refund
from payments.settle_refund import record_outcome
from tests.agent.agreed_return import agreed_return
from tests.agent.work_off import open_card, titles, told
from tests.factories import RefundFactory, RequestFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rung")]
CAME = "1 of 1 units of the return RMA-ABCDEF arrived."


def fails_for_good(request: RefundRequest, trigger: str) -> RefundRequest:
    """The queued run of `trigger` dies in its last try."""
    run = Run.objects.get(request=request, trigger=trigger, status="queued")
    assert claim(run.pk) is not None
    Run.objects.filter(pk=run.pk).update(tries=3, lease_until=timezone.now() - timedelta(seconds=1))
    assert take_from_the_dead() == 1
    run.refresh_from_db()
    assert run.status == "failed"
    request.refresh_from_db()
    return request


def refunded() -> RefundRequest:
    request = RequestFactory(status="refunded")
    request.runs.all().delete()
    charge = Charge.objects.get()
    RefundFactory(charge=charge, request_uuid=request.uuid, amount_minor=3400, status="succeeded")
    return request


def test_a_parcel_leaves_a_refunded_request_where_its_money_put_it(maya: User) -> None:
    request = refunded()
    agreed_return(request, amount_minor=3400, status="withdrawn")
    record_receipt(request_uuid=request.uuid, by=maya, source="page")
    assert fails_for_good(request, "receipt").status == "refunded"
    assert (request.reopened, titles(request)[-1]) == (False, "The agent could not finish")
    assert not request.approvals.filter(closed_at=None).exists()
    assert told(request) == [""]


def test_news_of_a_late_failure_reopens_it_with_the_banks_reason() -> None:
    request = refunded()
    refund = Refund.objects.get()
    record_outcome(refund.pk, status="failed", reason="account closed", provider_reference="", source="webhook")
    assert fails_for_good(request, "outcome").status == "needs_approval"
    assert "account closed" in open_card(request).concerns[0]["text"]
    assert told(request) == ["refund_did_not_go_through"]


def test_a_parcel_is_put_on_the_card_that_is_open_already(maya: User) -> None:
    request = RequestFactory(status="awaiting_return")
    request.runs.all().delete()
    agreed_return(request, amount_minor=3400)
    card = take_back(request_uuid=request.uuid, by=maya)
    record_receipt(request_uuid=request.uuid, by=maya, source="page")
    assert fails_for_good(request, "receipt").status == "needs_approval"
    assert open_card(request) == card
    assert open_card(request).concerns[0]["text"] == CAME


@pytest.mark.parametrize("status", ["awaiting_return", "declined", "closed"])
def test_a_parcel_is_on_the_card_that_its_failed_run_opens(maya: User, status: str) -> None:
    request = RequestFactory(status=status)
    request.runs.all().delete()
    parcel = agreed_return(request, amount_minor=3400)
    if status != "awaiting_return":
        Return.objects.filter(pk=parcel.pk).update(status="withdrawn")
    Receipt.objects.create(parcel=parcel, units=1, recorded_by=maya, source="page")
    assert fails_for_good(request, "receipt").status == "needs_approval"
    assert open_card(request).concerns[0]["text"] == CAME
