"""What is left of an order's money and what a customer got back: reads only, amounts in minor units."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import F, Max, Sum
from django.db.models.functions import Coalesce

from payments.models import LIVE_REFUND_STATUSES, Charge, Order, Refund

MOST_REFUNDS_READ = 200


@dataclass(frozen=True)
class OrderBalance:
    """What the fullest single charge still holds, and the shipping that is not yet given back."""

    largest_left_minor: int
    shipping_left_minor: int


def left_on_order(order: Order) -> OrderBalance:
    """Two queries, no locks: what a refund of this order could pay at this moment."""
    left = Charge.objects.filter(order=order, currency=order.currency).aggregate(
        largest=Coalesce(Max(F("captured_minor") - F("reserved_minor")), 0)
    )
    return OrderBalance(largest_left_minor=left["largest"], shipping_left_minor=shipping_left(order.pk))


def shipping_left(order_id: int) -> int:
    """Shipping of the order that no live refund gives back yet."""
    paid = Order.objects.values_list("shipping_minor", flat=True).get(pk=order_id)
    back = Refund.objects.filter(charge__order_id=order_id, status__in=LIVE_REFUND_STATUSES).aggregate(
        total=Coalesce(Sum("shipping_minor"), 0)
    )
    return max(0, paid - int(back["total"]))


def has_live_refund(request_uuid: uuid.UUID) -> bool:
    return Refund.objects.filter(request_uuid=request_uuid, status__in=LIVE_REFUND_STATUSES).exists()


def live_refunds_since(customer_id: int, since: datetime, *, besides_request: uuid.UUID | None = None) -> list[Refund]:
    """The customer's live refunds (in flight included) reserved at or after `since`, newest first, at most 200."""
    refunds = (
        Refund.objects.filter(charge__order__customer_id=customer_id, status__in=LIVE_REFUND_STATUSES)
        .filter(reserved_at__gte=since)
        .select_related("line")
    )
    if besides_request is not None:
        refunds = refunds.exclude(request_uuid=besides_request)
    return list(refunds[:MOST_REFUNDS_READ])


def live_refund_days(
    customer_id: int, *, now: datetime, days: int, besides_request: uuid.UUID | None = None
) -> tuple[date, ...]:
    """The shop's calendar day of each live refund of the customer in the last `days` calendar days, newest first.

    Every refund that may count is in it; whether a day on the edge counts is for the rule to say.
    """
    zone = ZoneInfo(settings.SHOP_TIME_ZONE)
    refunds = live_refunds_since(customer_id, now - timedelta(days=days + 2), besides_request=besides_request)
    return tuple(refund.reserved_at.astimezone(zone).date() for refund in refunds)
