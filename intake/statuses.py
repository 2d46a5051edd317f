"""The statuses of a refund request and the one table of allowed moves. Plain facts, no rows."""

from __future__ import annotations

from django.db import models


class Status(models.TextChoices):
    SUBMITTED = "submitted", "Submitted"
    WORKING = "working", "Agent working"
    REFUNDING = "refunding", "Refund on its way"
    NEEDS_APPROVAL = "needs_approval", "Needs approval"
    NEEDS_CUSTOMER = "needs_customer", "Waiting on customer"
    AWAITING_RETURN = "awaiting_return", "Awaiting return"
    REFUNDED = "refunded", "Refunded"
    DECLINED = "declined", "Declined"
    CLOSED = "closed", "Closed"


ENDS = frozenset({Status.REFUNDED, Status.DECLINED, Status.CLOSED})
OPEN = frozenset(Status) - ENDS

# From each status, where a request may go. An end is left only for `needs_approval`: by news that makes it untrue.
MOVES: dict[Status, frozenset[Status]] = {
    Status.SUBMITTED: frozenset({Status.WORKING, Status.NEEDS_APPROVAL}),
    Status.WORKING: frozenset(
        {
            Status.REFUNDING,
            Status.NEEDS_APPROVAL,
            Status.NEEDS_CUSTOMER,
            Status.AWAITING_RETURN,
            Status.DECLINED,
            Status.CLOSED,
        }
    ),
    Status.REFUNDING: frozenset({Status.REFUNDED, Status.NEEDS_APPROVAL}),
    Status.NEEDS_APPROVAL: frozenset({Status.WORKING}),
    Status.NEEDS_CUSTOMER: frozenset({Status.WORKING, Status.NEEDS_APPROVAL}),
    Status.AWAITING_RETURN: frozenset({Status.WORKING, Status.NEEDS_APPROVAL}),
    Status.REFUNDED: frozenset({Status.NEEDS_APPROVAL}),
    Status.DECLINED: frozenset({Status.NEEDS_APPROVAL}),
    Status.CLOSED: frozenset({Status.NEEDS_APPROVAL}),
}


def sources_of(to: Status) -> frozenset[Status]:
    """The statuses from which the table allows a move to `to`."""
    return frozenset(source for source, targets in MOVES.items() if to in targets)
