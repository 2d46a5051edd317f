"""Which requests a customer sees: their own, and nothing that tells whether others exist."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import User
from django.db.models import QuerySet

from intake.models import RefundRequest
from intake.refusals import Refusal


def requests_of(customer: User) -> QuerySet[RefundRequest]:
    """The customer's requests, newest first."""
    return RefundRequest.objects.filter(customer=customer)


def request_of(customer: User, request_uuid: uuid.UUID | str) -> RefundRequest:
    """One request of the customer with its line and order. Raises Refusal request_not_found for every other id."""
    parsed = read_uuid(request_uuid)
    found = parsed and requests_of(customer).select_related("line__order", "policy").filter(uuid=parsed).first()
    if not found:
        raise request_not_found()
    return found


def request_not_found() -> Refusal:
    return Refusal("request_not_found", "There is no such request among yours. Look at your list of requests.")


def read_uuid(value: uuid.UUID | str) -> uuid.UUID | None:
    """The id, or None for what is none."""
    if isinstance(value, uuid.UUID):
        return value
    try:
        return uuid.UUID(value)
    except (ValueError, AttributeError, TypeError):
        return None
