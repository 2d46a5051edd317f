from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from intake.models import Receipt, RefundRequest, Return, Step
from intake.record_receipt import record_receipt
from intake.refusals import Refusal
from tests.factories import LineFactory, RequestFactory, StaffFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def parcel(policy: object) -> Return:
    request = RequestFactory(line=LineFactory(quantity=2), units=2, status="awaiting_return")
    now = timezone.now()
    return Return.objects.create(request=request, code="RMA-7KQ2MX", amount_minor=6800, ship_by=now, check_at=now)


def record(parcel: Return, by: User, **changes: Any) -> Receipt:
    given: dict[str, Any] = {"request_uuid": parcel.request.uuid, "by": by, "source": "page"}
    return record_receipt(**(given | changes))


def refused(parcel: Return, by: User, **changes: Any) -> str:
    before = Receipt.objects.count(), Step.objects.count(), Return.objects.get(pk=parcel.pk).status
    with pytest.raises(Refusal) as raised:
        record(parcel, by, **changes)
    assert (Receipt.objects.count(), Step.objects.count(), Return.objects.get(pk=parcel.pk).status) == before
    return raised.value.code


def test_a_receipt_takes_the_return_from_waiting_to_received(parcel: Return, daniel: User) -> None:
    receipt = record(parcel, daniel)
    parcel.refresh_from_db()
    assert (receipt.parcel, receipt.units, receipt.recorded_by, receipt.source) == (parcel, 2, daniel, "page")
    assert parcel.status == "received"


def test_the_request_itself_is_moved_by_the_run_and_not_here(parcel: Return, daniel: User) -> None:
    record(parcel, daniel)
    parcel.request.refresh_from_db()
    assert parcel.request.status == "awaiting_return"


def test_the_customer_reads_that_it_arrived_and_never_who_opened_it(parcel: Return, daniel: User) -> None:
    record(parcel, daniel, units=1)
    step = Step.objects.get()
    assert (step.title, step.detail, step.for_customer) == ("Your parcel arrived", "1 of 2 units arrived.", True)
    assert (step.actor, step.actor_user) == ("staff", daniel)
    assert "Daniel" not in step.title + step.detail


@pytest.mark.parametrize(
    ("came", "recorded", "detail"),
    [(None, 1, "1 unit arrived."), (1, 1, "1 unit arrived."), (2, 2, "2 units arrived; 1 was to come back.")],
)
def test_of_a_return_for_fewer_units_those_are_what_is_expected(
    parcel: Return, daniel: User, came: int | None, recorded: int, detail: str
) -> None:
    Return.objects.update(units=1, amount_minor=3400)
    assert record(parcel, daniel, units=came).units == recorded
    assert Step.objects.get().detail == detail


def test_a_single_unit_is_not_counted_to_the_customer(parcel: Return, daniel: User) -> None:
    RefundRequest.objects.update(units=1)
    record(parcel, daniel)
    assert Step.objects.get().detail == ""


@pytest.mark.parametrize("units", [0, -1, 3])
def test_units_that_were_not_asked_for_are_refused(parcel: Return, daniel: User, units: int) -> None:
    assert refused(parcel, daniel, units=units) == "invalid_input"


def test_without_the_permission_nothing_is_recorded(parcel: Return, priya: User) -> None:
    assert refused(parcel, StaffFactory(permissions=())) == "forbidden"
    assert refused(parcel, priya) == "forbidden"


def test_a_person_who_was_switched_off_records_nothing(parcel: Return, daniel: User) -> None:
    daniel.is_active = False
    assert refused(parcel, daniel) == "forbidden"


def test_a_customer_with_the_permission_records_nothing(parcel: Return, daniel: User) -> None:
    User.objects.filter(pk=daniel.pk).update(is_staff=False)
    assert refused(parcel, User.objects.get(pk=daniel.pk)) == "forbidden"


@pytest.mark.parametrize("given", [uuid.uuid4(), "1010", ""])
def test_a_request_that_does_not_exist_is_not_found(parcel: Return, daniel: User, given: Any) -> None:
    assert refused(parcel, daniel, request_uuid=given) == "request_not_found"


def test_a_parcel_is_received_once(parcel: Return, daniel: User) -> None:
    record(parcel, daniel, units=1)
    assert refused(parcel, daniel) == "not_waiting_for_return"
    with pytest.raises(Refusal, match="What comes after that cannot be recorded here: decide it by hand"):
        record(parcel, daniel, units=1)


def test_a_late_parcel_is_received_after_its_return_was_closed(parcel: Return, daniel: User) -> None:
    Return.objects.update(status="closed")
    assert record(parcel, daniel).units == 2


def test_a_parcel_is_received_after_its_return_was_taken_back(parcel: Return, daniel: User) -> None:
    Return.objects.update(status="withdrawn")
    assert record(parcel, daniel).units == 2
    parcel.refresh_from_db()
    assert parcel.status == "received"
    assert refused(parcel, daniel) == "not_waiting_for_return"


def test_a_withdrawn_return_before_the_newest_takes_no_receipt(parcel: Return, daniel: User) -> None:
    Return.objects.update(status="withdrawn")
    now = timezone.now()
    newest = Return.objects.create(
        request=parcel.request, code="RMA-NEWEST", amount_minor=6800, ship_by=now, check_at=now
    )
    assert record(parcel, daniel).parcel == newest
    parcel.refresh_from_db()
    assert parcel.status == "withdrawn"


def test_a_request_without_a_return_takes_no_receipt(parcel: Return, daniel: User) -> None:
    other = RequestFactory()
    assert refused(parcel, daniel, request_uuid=other.uuid) == "not_waiting_for_return"


def test_nobody_records_the_parcel_of_their_own_request(db: None) -> None:
    own = StaffFactory()
    request = RequestFactory(line=LineFactory(order__customer=own), status="awaiting_return")
    with pytest.raises(Refusal, match="Somebody else has to decide your own request") as refused:
        record_receipt(request_uuid=request.uuid, by=own, source="page")
    assert (refused.value.code, Receipt.objects.count()) == ("forbidden", 0)
