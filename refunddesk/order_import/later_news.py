"""An order that is there: what happened since is added, and whatever contradicts the book is refused.

What a file leaves out it does not deny, so that an older file brought again changes nothing.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils import timezone

from intake.line_offer import is_delivered
from payments.models import Charge, Order, OrderLine
from payments.money import format_minor
from refunddesk.order_import.accounts import FIELD as EMAIL
from refunddesk.order_import.given import GivenCharge, GivenLine, GivenOrder
from refunddesk.order_import.refused import Refused
from refunddesk.order_import.write_order import write_charges


def add_later_news(order: Order, given: GivenOrder) -> bool:
    """False: nothing of it is news. `order` with its customer, locked. Raises Refused."""
    if order.customer.username != given.customer.email:
        raise Refused(EMAIL, f"the order belongs to another customer than {given.customer.email}.")
    same = _Same(order.currency)
    same.value("currency", order.currency, given.currency)
    same.amount("shipping", order.shipping_minor, given.shipping_minor)
    same.moment("placed_at", order.placed_at, given.placed_at)
    news = [
        _add_shipping_day(order, given, same),
        *_add_deliveries(order, given, same),
        _add_charges(order, given, same),
    ]
    return any(news)


class _Same:
    """Compares what the book has with what the file gives. Each raises Refused."""

    def __init__(self, currency: str) -> None:
        self._currency = currency

    def value(self, field: str, has: Any, given: Any) -> None:
        if has != given:
            raise Refused(field, f"the book has “{has}”, the file “{given}”. What was bought and paid stays as it is.")

    def amount(self, field: str, has: int, given: int) -> None:
        self.value(field, format_minor(has, self._currency), format_minor(given, self._currency))

    def moment(self, field: str, has: datetime | None, given: datetime | None) -> None:
        if has != given:
            raise Refused(field, f"the book has {_at(has)}, the file {_at(given)}. What has happened stays as it is.")


def _add_shipping_day(order: Order, given: GivenOrder, same: _Same) -> bool:
    if given.shipped_at is None:
        return False
    if order.shipped_at is not None:
        same.moment("shipped_at", order.shipped_at, given.shipped_at)
        return False
    Order.objects.filter(pk=order.pk).update(shipped_at=given.shipped_at)
    return True


def _add_deliveries(order: Order, given: GivenOrder, same: _Same) -> list[bool]:
    """The lines themselves are the same ones, in any sequence."""
    lines = {line.sku: line for line in order.lines.all()}
    missing = lines.keys() - {line.sku for line in given.lines}
    if missing:
        raise Refused("lines", f"{min(missing)} is in the book and not in the file. What was bought stays as it is.")
    return [_add_delivery(lines, line, f"lines[{place}]", same) for place, line in enumerate(given.lines)]


def _add_delivery(lines: dict[str, OrderLine], given: GivenLine, where: str, same: _Same) -> bool:
    line = lines.get(given.sku)
    if line is None:
        raise Refused(f"{where}.sku", f"{given.sku} is not in the book's order. What was bought stays as it is.")
    same.value(f"{where}.name", line.name, given.name)
    same.value(f"{where}.quantity", line.quantity, given.quantity)
    same.amount(f"{where}.unit_price", line.unit_price_minor, given.unit_price_minor)
    same.amount(f"{where}.paid", line.paid_minor, given.paid_minor)
    if given.delivered_at is None or given.delivered_at == line.delivered_at:
        return False
    if is_delivered(line, timezone.now()):
        same.moment(f"{where}.delivered_at", line.delivered_at, given.delivered_at)
    OrderLine.objects.filter(pk=line.pk).update(delivered_at=given.delivered_at)
    return True


def _add_charges(order: Order, given: GivenOrder, same: _Same) -> bool:
    known = {charge.reference: charge for charge in order.charges.all()}
    for place, charge in enumerate(given.charges):
        if charge.reference in known:
            _same_charge(known[charge.reference], charge, f"charges[{place}]", same)
    further = [charge for charge in given.charges if charge.reference not in known]
    write_charges(order, further)
    return bool(further)


def _same_charge(has: Charge, given: GivenCharge, where: str, same: _Same) -> None:
    same.value(f"{where}.provider", has.provider, given.provider)
    same.amount(f"{where}.captured", has.captured_minor, given.captured_minor)
    same.value(f"{where}.card_brand", has.card_brand, given.card_brand)
    same.value(f"{where}.card_last4", has.card_last4, given.card_last4)
    if given.captured_at is not None:
        same.moment(f"{where}.captured_at", has.captured_at, given.captured_at)


def _at(moment: datetime | None) -> str:
    return moment.isoformat() if moment else "none"
