"""Staff say what arrived under a return code. The one way in, whatever the door."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import User
from django.db import transaction

from intake.case_access import OWN_REQUEST, is_own_request, read_uuid
from intake.models import Receipt, RefundRequest, Return, Step
from intake.refusals import Refusal
from intake.timeline import Entry, write_step

# A parcel may still be on its way after its return was closed or withdrawn.
EXPECTED = (Return.Status.WAITING, Return.Status.CLOSED, Return.Status.WITHDRAWN)


def record_receipt(*, request_uuid: uuid.UUID | str, by: User, units: int | None = None, source: str) -> Receipt:
    """Notes that `units` came back, once; by default those agreed for the return, at most all of the request. A parcel
    may come after its return was closed or withdrawn.

    Raises Refusal: forbidden, request_not_found, invalid_input, not_waiting_for_return; then nothing is written.
    """
    request = request_to_receive(request_uuid, by)
    with transaction.atomic():
        return _record(request.uuid, by, units, source)


def request_to_receive(request_uuid: uuid.UUID | str, by: User) -> RefundRequest:
    """The request whose parcel `by` may record. Raises Refusal forbidden or request_not_found."""
    if not (by.is_active and by.is_staff and by.has_perm("intake.add_receipt")):
        raise Refusal("forbidden", "Your account may not record receipts.")
    parsed = read_uuid(request_uuid)
    request = RefundRequest.objects.filter(uuid=parsed).first() if parsed else None
    if request is None:
        raise _request_not_found()
    if is_own_request(by, request):
        raise Refusal("forbidden", OWN_REQUEST)
    return request


def _record(request_uuid: uuid.UUID, by: User, units: int | None, source: str) -> Receipt:
    request = RefundRequest.objects.select_for_update(no_key=True).filter(uuid=request_uuid).first()
    if request is None:
        raise _request_not_found()
    parcel = request.returns.order_by("-created_at", "-id").first()
    if parcel is None or Receipt.objects.filter(parcel=parcel).exists():
        raise _not_waiting()
    came_back = _read_units(units, parcel)
    expected = Return.objects.filter(pk=parcel.pk, status__in=EXPECTED)
    if expected.update(status=Return.Status.RECEIVED) == 0:
        raise _not_waiting()
    receipt = Receipt.objects.create(parcel=parcel, units=came_back, recorded_by=by, source=source)
    write_step(request.pk, _entry(parcel, came_back, by))
    return receipt


def _entry(parcel: Return, came_back: int, by: User) -> Entry:
    return Entry(
        kind=Step.Kind.TRIGGER,
        actor=Step.Actor.STAFF,
        actor_user=by,
        title="Your parcel arrived",
        detail=_counted(parcel, came_back),
        for_customer=True,
    )


def _counted(parcel: Return, came_back: int) -> str:
    """`1 of 2 units arrived.`, of those that were to come back; empty where there is one unit only."""
    agreed = parcel.agreed_units
    if parcel.request.units == 1:
        return ""
    if came_back > agreed:
        return f"{came_back} units arrived; {agreed} {'was' if agreed == 1 else 'were'} to come back."
    return "1 unit arrived." if agreed == 1 else f"{came_back} of {agreed} units arrived."


def _read_units(units: int | None, parcel: Return) -> int:
    request = parcel.request
    if units is None:
        return parcel.agreed_units
    if not 1 <= units <= request.units:
        allowed = "1 unit" if request.units == 1 else f"1 to {request.units} units"
        raise Refusal("invalid_input", f"The request is for {allowed}; enter what arrived.", field="units")
    return units


def _request_not_found() -> Refusal:
    return Refusal("request_not_found", "There is no such request. Look at the queue.")


def _not_waiting() -> Refusal:
    return Refusal(
        "not_waiting_for_return",
        "This request waits for no parcel: there is no open return code, or it was received. What comes after that "
        "cannot be recorded here: decide it by hand.",
    )
