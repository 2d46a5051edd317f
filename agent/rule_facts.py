"""The facts of the rules as JSON and back, so that the rules can be asked again about a day long gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields
from datetime import date, datetime
from typing import Any

from agent.canonical import iso
from intake.rules import Facts

MOMENTS = frozenset({"delivered_at", "asked_at"})


def facts_as_json(facts: Facts) -> dict[str, Any]:
    return {name: _written(value) for name, value in asdict(facts).items()}


def facts_from_json(written: Mapping[str, Any]) -> Facts:
    """Raises KeyError for a fact that is missing, ValueError or TypeError for one that cannot be read."""
    needed = [field.name for field in fields(Facts) if field.name in written or field.default is MISSING]
    return Facts(**{name: _read(name, written[name]) for name in needed})


def _written(value: Any) -> Any:
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return [_written(one) for one in value]
    return value


def _read(name: str, value: Any) -> Any:
    if name in MOMENTS and value is not None:
        return datetime.fromisoformat(value)
    if name == "today":
        return date.fromisoformat(value)
    if name == "refund_days":
        return tuple(date.fromisoformat(day) for day in value)
    return tuple(value) if isinstance(value, list) else value
