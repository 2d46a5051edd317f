"""Files of orders as a shop would write them, and what `import_orders` says to them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core import serializers
from django.core.management import CommandError, call_command

from payments.models import Charge, Order, OrderLine

Json = dict[str, Any]
ANA = "ana.silva@example.com"


def line(**changes: Any) -> Json:
    """A carafe of 34.00 with ten percent off, delivered."""
    said = {
        "sku": "CAR-600",
        "name": "Glass carafe, 600 ml",
        "quantity": 1,
        "unit_price": "34.00",
        "paid": "30.60",
        "delivered_at": "2026-01-09T13:10:00+01:00",
    }
    return said | changes


def charge(**changes: Any) -> Json:
    said = {
        "provider": "stripe",
        "reference": "pi_1001",
        "captured": "35.50",
        "card_brand": "Visa",
        "card_last4": "4242",
        "captured_at": "2026-01-05T10:15:04+01:00",
    }
    return said | changes


def order(number: Any = "A-1001", **changes: Any) -> Json:
    said = {
        "number": number,
        "customer": {"email": ANA, "first_name": "Ana", "last_name": "Silva"},
        "placed_at": "2026-01-05T10:15:00+01:00",
        "shipped_at": "2026-01-06T16:00:00+01:00",
        "currency": "USD",
        "shipping": "4.90",
        "lines": [line()],
        "charges": [charge(reference=f"pi_{str(number).removeprefix('A-')}")],
    }
    return said | changes


def without(said: Json, *names: str) -> Json:
    return {name: value for name, value in said.items() if name not in names}


def told(folder: Path, orders: Any, *options: str) -> tuple[int, list[str]]:
    """Exit code and lines of `import_orders` for a file with these orders (JSON as it is when it is bytes)."""
    file = folder / "orders.json"
    file.write_bytes(orders if isinstance(orders, bytes) else json.dumps(orders).encode())
    return told_by(str(file), *options)


def told_by(*arguments: str) -> tuple[int, list[str]]:
    out = io.StringIO()
    try:
        call_command("import_orders", *arguments, stdout=out)
    except CommandError as error:
        return error.returncode, [*out.getvalue().splitlines(), str(error)]
    return 0, out.getvalue().splitlines()


def refused(folder: Path, one: Any, *options: str) -> str:
    """The sentence for the only order of a file, of which nothing may be written."""
    before = every_row()
    code, lines = told(folder, [one], *options)
    assert (code, len(lines)) == (1, 2), lines
    assert lines[1] == "Orders read: 1; new 0, added to 0, unchanged 0, refused 1."
    assert every_row() == before
    return lines[0]


def every_row() -> str:
    rows = (User, Order, OrderLine, Charge)
    return "".join(serializers.serialize("json", model._default_manager.order_by("pk")) for model in rows)
