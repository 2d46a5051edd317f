"""A case's order as a scenario tells it: the lines, and what each payment still held when the request was reviewed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from django.conf import settings
from django.db.models import Sum

from agent.evaluation.scenario import Line, Order
from intake.models import RefundRequest
from intake.rules import calendar_days
from payments.models import Charge, OrderLine, Refund
from payments.money import share_of_paid

MOST_LINES = 100
MOST_CHARGES = 20


def order_of(request: RefundRequest, refunds: Sequence[Refund], text: Callable[[str], str]) -> Order:
    """`request` with its line and order. `refunds`: the customer's other refunds that held money at the review."""
    order = request.line.order
    lines = tuple(_line(line, request, text) for line in order.lines.all()[:MOST_LINES])
    shipping = order.shipping_minor - sum(
        refund.shipping_minor for refund in refunds if refund.charge.order_id == order.pk
    )
    shipping = max(0, shipping)
    held = _left_on_charges(order.charges.all()[:MOST_CHARGES], refunds)
    is_ordinary = held == (sum(line.paid_minor for line in lines) + shipping,)
    return Order(
        currency=order.currency,
        placed_days_ago=_days(order.placed_at, request.created_at),
        shipping_minor=shipping,
        lines=lines,
        charges_minor=() if is_ordinary else held,
    )


def _line(line: OrderLine, request: RefundRequest, text: Callable[[str], str]) -> Line:
    delivered = line.delivered_at if line.delivered_at and line.delivered_at <= request.created_at else None
    quantity, paid = line.quantity, line.paid_minor
    if line.pk == request.line_id:
        quantity, paid = _left_to_ask_for(line, request)
    return Line(
        sku=line.sku,
        name=text(line.name)[:200],
        quantity=quantity,
        paid_minor=paid,
        delivered_days_ago=None if delivered is None else _days(delivered, request.created_at),
    )


def _left_to_ask_for(line: OrderLine, request: RefundRequest) -> tuple[int, int]:
    """Units and price without what earlier requests of the line had asked for; the request's amount comes out."""
    earlier = RefundRequest.objects.filter(line=line, pk__lt=request.pk).aggregate(units=Sum("units"))["units"] or 0
    if not earlier:
        return line.quantity, line.paid_minor
    quantity = line.quantity - earlier
    paid = line.paid_minor - share_of_paid(line.paid_minor, line.quantity, earlier, 0)
    if share_of_paid(paid, quantity, request.units, 0) == request.amount_minor:
        return quantity, paid
    return request.units, request.amount_minor


def _left_on_charges(charges: Iterable[Charge], refunds: Sequence[Refund]) -> tuple[int, ...]:
    left = []
    for charge in charges:
        held = sum(refund.amount_minor for refund in refunds if refund.charge_id == charge.pk)
        left.append(charge.captured_minor - held)
    return tuple(amount for amount in left if amount > 0)


def _days(earlier: datetime, later: datetime) -> int:
    return calendar_days(earlier, later, settings.SHOP_TIME_ZONE)
