"""Writes an order that is new, with its lines and charges."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.models import User

from payments.models import Charge, Order, OrderLine
from refunddesk.order_import.given import GivenCharge, GivenOrder


def write_order(given: GivenOrder, customer: User) -> None:
    order = Order.objects.create(
        number=given.number,
        customer=customer,
        currency=given.currency,
        shipping_minor=given.shipping_minor,
        placed_at=given.placed_at,
        shipped_at=given.shipped_at,
    )
    OrderLine.objects.bulk_create(
        OrderLine(
            order=order,
            sku=line.sku,
            name=line.name,
            quantity=line.quantity,
            unit_price_minor=line.unit_price_minor,
            paid_minor=line.paid_minor,
            delivered_at=line.delivered_at,
        )
        for line in given.lines
    )
    write_charges(order, given.charges)


def write_charges(order: Order, charges: Iterable[GivenCharge]) -> None:
    """What was captured at an unknown moment was captured when the order was placed."""
    Charge.objects.bulk_create(
        Charge(
            order=order,
            provider=charge.provider,
            reference=charge.reference,
            currency=order.currency,
            captured_minor=charge.captured_minor,
            card_brand=charge.card_brand,
            card_last4=charge.card_last4,
            captured_at=charge.captured_at or order.placed_at,
        )
        for charge in charges
    )
