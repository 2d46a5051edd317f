"""Staff take a request that waits for the customer back to themselves."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from agent import customer_messages
from agent.handover import manual_card, put_before_staff
from agent.models import Approval
from intake.case_access import OWN_REQUEST, is_own_request
from intake.lifecycle import MoveRefused
from intake.models import RefundRequest, Step
from intake.names import name_of
from intake.refusals import Refusal
from intake.statuses import Status
from intake.timeline import Entry, write_step

WAITS_FOR_CUSTOMER = (Status.NEEDS_CUSTOMER, Status.AWAITING_RETURN)


def take_back(*, request_uuid: uuid.UUID | str, by: User) -> Approval:
    """Withdraws the open question or return and opens a new card.

    Raises Refusal `forbidden`, `request_not_found` or `not_waiting` (it waits for nobody, or somebody was faster).
    """
    if not (by.is_active and by.is_staff and by.has_perm("agent.add_approval")):
        raise Refusal("forbidden", "Your account may not take requests back. Ask a lead to change that.")
    try:
        request = RefundRequest.objects.get(uuid=request_uuid)
    except (RefundRequest.DoesNotExist, ValidationError, ValueError):
        raise Refusal("request_not_found", "There is no such request.") from None
    if is_own_request(by, request):
        raise Refusal("forbidden", OWN_REQUEST)
    name = name_of(by)
    card = manual_card(request, f"{name} took the request back before the customer had done their part.")
    try:
        with transaction.atomic():
            approval = put_before_staff(request, card, run_id=None, sources=WAITS_FOR_CUSTOMER)
            write_step(request.pk, _taken_step(by, name))
            was_return = request.status == Status.AWAITING_RETURN
            write_step(request.pk, customer_messages.taken_back(was_return=was_return))
    except MoveRefused:
        raise Refusal(
            "not_waiting", "The request does not wait for the customer, so it cannot be taken back."
        ) from None
    return approval


def _taken_step(by: User, name: str) -> Entry:
    return Entry(kind=Step.Kind.TRIGGER, actor=Step.Actor.STAFF, actor_user=by, title=f"{name} took the request back")
