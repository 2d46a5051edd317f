"""Refunds of an order that were made by hand at the provider: they belong to no request, and their money is out."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Min

from payments.models import LIVE_REFUND_STATUSES, Refund

MOST_SHOWN = 20


def refunds_made_elsewhere(order_id: int) -> list[Refund]:
    """Live refunds of the order that belong to no request, newest first, at most 20. One query, no locks."""
    refunds = Refund.objects.filter(
        charge__order_id=order_id, request_uuid=None, status__in=LIVE_REFUND_STATUSES
    ).order_by("-reserved_at", "-id")
    return list(refunds[:MOST_SHOWN])


def heard_of_after(order_id: int, moment: datetime) -> Refund | None:
    """The newest live refund made elsewhere that the shop's book first heard of after `moment`; None: there is none.

    What counts is when it came into the book: only from then on could anybody here know of it.
    """
    known = Refund.objects.filter(charge__order_id=order_id, request_uuid=None, status__in=LIVE_REFUND_STATUSES)
    later = known.annotate(first_heard=Min("outcomes__created_at")).filter(first_heard__gt=moment)
    return later.order_by("-first_heard", "-id").first()
