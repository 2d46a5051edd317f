"""An order as the file gives it, in the shop's own terms: amounts in minor units, moments with their zone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from babel.numbers import is_currency
from rest_framework.exceptions import ValidationError

from payments.money import parse_amount
from refunddesk.order_import.refused import Refused
from refunddesk.order_import.shapes import OrderShape

WHOLE = "the order"


@dataclass(frozen=True)
class GivenCustomer:
    email: str
    first_name: str
    last_name: str


@dataclass(frozen=True)
class GivenLine:
    sku: str
    name: str
    quantity: int
    unit_price_minor: int
    paid_minor: int
    delivered_at: datetime | None


@dataclass(frozen=True)
class GivenCharge:
    """`captured_at` None: the file does not say it."""

    provider: str
    reference: str
    captured_minor: int
    card_brand: str
    card_last4: str
    captured_at: datetime | None


@dataclass(frozen=True)
class GivenOrder:
    number: str
    customer: GivenCustomer
    currency: str
    shipping_minor: int
    placed_at: datetime
    shipped_at: datetime | None
    lines: tuple[GivenLine, ...]
    charges: tuple[GivenCharge, ...]


def read_order(raw: Any, shape: OrderShape) -> GivenOrder:
    """`shape` is used for many orders: to build one takes longer than to read with it. Raises Refused."""
    try:
        said = shape.run_validation(raw)
    except ValidationError as error:
        raise _first_fault(error.detail) from None
    currency = said["currency"]
    if not is_currency(currency):
        raise Refused("currency", f"“{currency[:40]}” is no ISO code of a currency, like USD.")
    order = GivenOrder(
        number=said["number"],
        customer=GivenCustomer(**said["customer"]),
        currency=currency,
        shipping_minor=_amount(said["shipping"], currency, "shipping"),
        placed_at=said["placed_at"],
        shipped_at=said["shipped_at"],
        lines=tuple(_line(line, currency, f"lines[{place}]") for place, line in enumerate(said["lines"])),
        charges=tuple(_charge(one, currency, f"charges[{place}]") for place, one in enumerate(said["charges"])),
    )
    _refuse_twins([line.sku for line in order.lines], "lines", "sku")
    _refuse_twins([charge.reference for charge in order.charges], "charges", "reference")
    return order


def _line(said: Mapping[str, Any], currency: str, where: str) -> GivenLine:
    return GivenLine(
        sku=said["sku"],
        name=said["name"],
        quantity=said["quantity"],
        unit_price_minor=_amount(said["unit_price"], currency, f"{where}.unit_price"),
        paid_minor=_amount(said["paid"], currency, f"{where}.paid"),
        delivered_at=said["delivered_at"],
    )


def _charge(said: Mapping[str, Any], currency: str, where: str) -> GivenCharge:
    return GivenCharge(
        provider=said["provider"],
        reference=said["reference"],
        captured_minor=_amount(said["captured"], currency, f"{where}.captured", least=1),
        card_brand=said["card_brand"],
        card_last4=said["card_last4"],
        captured_at=said["captured_at"],
    )


def _amount(text: str, currency: str, field: str, *, least: int = 0) -> int:
    """In minor units; nothing is an amount too, where it may be: shipping was free, an article was a present."""
    if least == 0 and Decimal(text) == 0:
        return 0
    try:
        return parse_amount(text, currency)
    except ValueError as error:
        raise Refused(field, str(error)) from None


def _refuse_twins(names: list[str], many: str, field: str) -> None:
    for place, name in enumerate(names):
        if name in names[:place]:
            raise Refused(f"{many}[{place}].{field}", f"{name} stands in this order twice.")


def _first_fault(detail: Any, path: str = "") -> Refused:
    """Of all faults that DRF found (dicts by name or place in a list, with sentences at their ends) the first."""
    if isinstance(detail, Mapping):
        name, inner = next(iter(detail.items()))
        return _first_fault(inner, path if name == "non_field_errors" else _inside(path, name))
    if isinstance(detail, list):
        return _first_fault(detail[0], path)
    return Refused(path or WHOLE, str(detail))


def _inside(path: str, name: Any) -> str:
    if isinstance(name, int):
        return f"{path}[{name}]"
    shown = str(name) if str(name).isprintable() else ascii(name)
    return f"{path}.{shown}" if path else shown
