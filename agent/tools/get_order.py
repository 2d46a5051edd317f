"""`get_order`: what was bought, when it came, and what this request would pay."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils import timezone

from agent.prompts.fence import one_line
from agent.tools.context import Outcome, ReviewContext
from agent.tools.tool import NoArguments, Tool
from intake.models import RefundRequest
from intake.rules import calendar_days
from payments.models import Charge, OrderLine
from payments.money import format_minor

MAX_LINES = 50


def run(context: ReviewContext, arguments: NoArguments) -> Outcome:
    request = context.request
    order = request.line.order
    lines = list(order.lines.order_by("id")[:MAX_LINES])
    charge = order.charges.order_by("captured_at", "id").first()
    result = {
        "order": one_line(order.number),
        "placed_on": shop_day(order.placed_at),
        "currency": order.currency,
        "lines": [_line(line, order.currency) for line in lines],
        "card": {"brand": one_line(charge.card_brand), "last_four": charge.card_last4} if charge else None,
        "this_request": _this_request(request),
    }
    return Outcome(result, f"Looked up order {order.number}", _detail(lines, request, charge))


def shop_day(moment: datetime | None) -> str | None:
    """The calendar day in the shop's time zone, as ISO text."""
    return None if moment is None else timezone.localtime(moment).date().isoformat()


def _line(line: OrderLine, currency: str) -> dict[str, Any]:
    return {
        "sku": one_line(line.sku),
        "item": one_line(line.name),
        "units": line.quantity,
        "unit_price": format_minor(line.unit_price_minor, currency),
        "paid": format_minor(line.paid_minor, currency),
        "delivered_on": shop_day(line.delivered_at),
    }


def _this_request(request: RefundRequest) -> dict[str, Any]:
    days = _days_to_request(request)
    window = request.policy.refund_window_days
    return {
        "sku": one_line(request.line.sku),
        "item": one_line(request.line.name),
        "units": request.units,
        "would_pay": format_minor(request.amount_minor, request.currency),
        "would_pay_minor": request.amount_minor,
        "currency": request.currency,
        "delivered_on": shop_day(request.line.delivered_at),
        "asked_on": shop_day(request.created_at),
        "days_from_delivery_to_request": days,
        "refund_window_days": window,
        "inside_window": days is not None and 0 <= days <= window,
    }


def _days_to_request(request: RefundRequest) -> int | None:
    delivered = request.line.delivered_at
    return None if delivered is None else calendar_days(delivered, request.created_at, settings.SHOP_TIME_ZONE)


def _detail(lines: list[OrderLine], request: RefundRequest, charge: Charge | None) -> str:
    items = "1 item" if len(lines) == 1 else f"{len(lines)} items"
    card = f"{charge.card_brand} {charge.card_last4}" if charge else "no charge on record"
    return f"{items}, {_delivery(request)}, {card}"


def _delivery(request: RefundRequest) -> str:
    if request.line.delivered_at is None:
        return "no delivery date"
    days = calendar_days(request.line.delivered_at, timezone.now(), settings.SHOP_TIME_ZONE)
    return {0: "delivered today", 1: "delivered yesterday"}.get(days, f"delivered {days} days ago")


GET_ORDER = Tool(
    name="get_order",
    description="The order of this request: items, prices, delivery, card, and what this request would pay.",
    arguments=NoArguments,
    run=run,
    failed_title="Could not look up the order",
)
