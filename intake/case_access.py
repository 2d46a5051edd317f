"""Who sees which requests: customers their own and no sign that others exist, staff with the right all."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import QuerySet

from intake.models import RefundRequest
from intake.refusals import Refusal

NOT_FOR_YOU = "Your account may not see refund requests. Ask a lead to add you to the support group."
OWN_REQUEST = "Somebody else has to decide your own request."


def may_see_requests(user: User | AnonymousUser) -> bool:
    """Whether a staff member may read every customer's requests and photos."""
    return user.is_active and user.is_staff and user.has_perm("intake.view_refundrequest")


def is_own_request(user: User, request: RefundRequest) -> bool:
    """Whether the one who would act for the shop is the one who asked it for money."""
    return user.pk == request.customer_id


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
