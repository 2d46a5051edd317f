"""Says in words what is different between what a link keeps and what a row says now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WORDS = {
    "addresses_reviewer": "remark about text in the picture",
    "agreed_minor": "agreed amount (minor units)",
    "agreed_units": "agreed units",
    "amount_minor": "amount (minor units)",
    "asked_at": "time it was asked",
    "asked_by": "asker",
    "at": "time",
    "auto_refund_limit_minor": "limit for automatic refunds (minor units)",
    "captured_minor": "captured amount (minor units)",
    "closed_at": "closing",
    "daily_budget_minor": "daily sum (minor units)",
    "decided_at": "time",
    "decided_by": "decider",
    "details_sha256": "customer's text",
    "note_sha256": "note",
    "opened_at": "opening",
    "paid_minor": "price (minor units)",
    "reply_by": "last day to answer",
    "reserved_at": "time",
    "said_sha256": "text or amount",
    "ship_by": "last day to send it",
    "shipping_minor": "shipping (minor units)",
    "text_sha256": "text",
    "wording_sha256": "wording",
}


def difference(kept: Mapping[str, Any], now: Mapping[str, Any], *, by: str = "chain") -> str:
    """The first field of `now` that `kept`, held `by` what, says otherwise, as a half sentence; empty: all the same."""
    for name, value in now.items():
        if kept.get(name) != value:
            what = WORDS.get(name, name.replace("_", " "))
            if name.endswith("_sha256"):
                return f"its {what} is another one than the {by} says"
            return f"its {what} is {_shown(value)}, and the {by} says {_shown(kept.get(name))}"
    return ""


def _shown(value: Any) -> str:
    if value is None or value == "":
        return "empty"
    text = str(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
