"""Writes the demo orders, each with its lines and the one charge that paid for it."""

from __future__ import annotations

from datetime import datetime, timedelta

from payments.models import Charge, Order, OrderLine
from refunddesk.demo_shop.calendar import Calendar
from refunddesk.demo_shop.orders import ARTICLES, CURRENCY, ORDERS, DemoOrder
from refunddesk.demo_shop.write_people import People


def write_orders(calendar: Calendar, people: People) -> int:
    """Adds the orders whose number is not there yet, and says how many those were."""
    there = set(Order.objects.filter(number__in=[order.number for order in ORDERS]).values_list("number", flat=True))
    missing = [order for order in ORDERS if order.number not in there]
    for order in sorted(missing, key=lambda order: -order.placed):
        _write_order(order, calendar, people)
    return len(missing)


def _write_order(order: DemoOrder, calendar: Calendar, people: People) -> None:
    placed_at = _placed_at(order, calendar)
    row = Order.objects.create(
        number=order.number,
        customer=people[order.customer],
        currency=CURRENCY,
        shipping_minor=order.shipping_minor,
        placed_at=placed_at,
        shipped_at=None if order.shipped is None else calendar.at(order.shipped, "15:30"),
    )
    delivered_at = None if order.delivered is None else calendar.at(order.delivered, "13:10")
    OrderLine.objects.bulk_create(
        OrderLine(
            order=row,
            sku=sku,
            name=ARTICLES[sku].name,
            quantity=units,
            unit_price_minor=ARTICLES[sku].price_minor,
            paid_minor=ARTICLES[sku].price_minor * units,
            delivered_at=delivered_at,
        )
        for sku, units in order.lines
    )
    Charge.objects.create(
        order=row,
        provider="ledger",
        reference=f"ch_{order.number.replace('-', '').lower()}",
        currency=CURRENCY,
        captured_minor=order.goods_minor + order.shipping_minor,
        card_brand=order.card.brand,
        card_last4=order.card.last4,
        captured_at=placed_at + timedelta(seconds=4),
    )


def _placed_at(order: DemoOrder, calendar: Calendar) -> datetime:
    if order.placed == 0:
        return calendar.now - timedelta(minutes=50)
    return calendar.at(order.placed, order.clock)
