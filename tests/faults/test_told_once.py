"""The oracle of what customers were told sees what it is there for."""

from __future__ import annotations

import uuid

import pytest

from agent import customer_messages
from intake.models import RefundRequest, Step
from intake.timeline import write_step
from payments.models import Charge, Refund
from payments.settle_refund import record_outcome
from tests.factories import RefundFactory, RequestFactory
from tests.faults.crash.at_rest import does_not_rest
from tests.faults.told_once import refunds_not_told, told_too_often

pytestmark = [pytest.mark.django_db, pytest.mark.faults]


@pytest.fixture
def refund(db: None) -> Refund:
    request = RequestFactory(status="refunding")
    refund: Refund = RefundFactory(charge=Charge.objects.get(), request_uuid=request.uuid)
    record_outcome(refund.pk, status="succeeded", reason="", provider_reference="", source="run")
    refund.refresh_from_db()
    return refund


def tell(refund: Refund) -> None:
    """By a run of its own, as two runs would that do not know of each other."""
    request = RefundRequest.objects.get()
    write_step(request.pk, customer_messages.refunded(uuid.uuid4(), refund))


def test_a_refund_told_once_is_in_order(refund: Refund) -> None:
    tell(refund)
    assert (told_too_often(), refunds_not_told()) == ([], [])


def test_a_refund_told_by_two_runs_is_seen(refund: Refund) -> None:
    tell(refund)
    tell(refund)
    assert f"{refund.reference} was told as refunded 2 times and went through 1 times" in told_too_often()
    assert refunds_not_told() == [f"{refund.reference} was told as refunded 2 times"]


def test_a_refund_nobody_told_of_is_seen(refund: Refund) -> None:
    assert (told_too_often(), refunds_not_told()) == ([], [f"{refund.reference} was told as refunded 0 times"])


def test_a_decline_without_a_decision_is_seen(refund: Refund) -> None:
    write_step(RefundRequest.objects.get().pk, customer_messages.declined(uuid.uuid4(), "No."))
    assert told_too_often() == [f"request {RefundRequest.objects.get().pk} was told declined 1 times for 0"]
    assert Step.objects.count() == 1


def test_a_request_whose_money_is_out_does_not_rest_in_refunding(refund: Refund) -> None:
    assert does_not_rest(RefundRequest.objects.get()) == ["it waits for a refund that is not on its way"]


def test_a_refund_on_its_way_lets_it_rest(db: None) -> None:
    request = RequestFactory(status="refunding")
    RefundFactory(charge=Charge.objects.get(), request_uuid=request.uuid, status="pending")
    assert does_not_rest(request) == []
