"""A customer's orders with what can be asked for on each line, in a fixed number of queries."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Prefetch

from intake.line_offer import LineOffer, offer_for
from intake.models import RefundRequest
from intake.request_page import with_waiting_refunds
from payments.models import Charge, Order, OrderLine


@dataclass(frozen=True)
class OrderView:
    """An order, its card (of its first charge) and its lines; amounts in minor units of the order's currency."""

    order: Order
    card: Charge | None
    offers: list[LineOffer]

    @property
    def total_minor(self) -> int:
        """What was paid for all lines and the shipping."""
        return sum(offer.line.paid_minor for offer in self.offers) + self.order.shipping_minor

    @property
    def status(self) -> str:
        """`delivered` once every line is there, `shipped` on the way or there in part, else `placed`."""
        delivered = [offer.delivered for offer in self.offers]
        if delivered and all(delivered):
            return Order.Status.DELIVERED
        return Order.Status.SHIPPED if self.order.shipped_at or any(delivered) else Order.Status.PLACED

    @property
    def status_label(self) -> str:
        return Order.Status(self.status).label


def orders_of(customer: User, *, start: int, stop: int) -> list[OrderView]:
    """The customer's orders from `start` up to but not including `stop`, newest first."""
    charges = Prefetch("charges", queryset=Charge.objects.order_by("captured_at", "id"))
    orders = Order.objects.filter(customer=customer).prefetch_related("lines", charges)[start:stop]
    requests = _requests_by_line([line for order in orders for line in order.lines.all()])
    return [
        OrderView(
            order=order,
            card=next(iter(order.charges.all()), None),
            offers=[offer_for(line, requests[line.pk]) for line in order.lines.all()],
        )
        for order in orders
    ]


def _requests_by_line(lines: list[OrderLine]) -> dict[int, list[RefundRequest]]:
    found: dict[int, list[RefundRequest]] = defaultdict(list)
    for request in with_waiting_refunds(RefundRequest.objects.filter(line__in=lines)):
        found[request.line_id].append(request)
    return found
