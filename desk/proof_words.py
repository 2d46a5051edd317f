"""A proof's rules, policy and sources in words that staff and an auditor can read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from desk.policy_labels import LABELS
from desk.rule_names import rule_name
from intake.models import RefundRequest
from payments.models import RefundOutcome
from payments.money import format_minor

INPUTS = {
    "reason": "reason given",
    "amount_minor": "amount",
    "currency": "currency",
    "limit_minor": "limit",
    "limit_currency": "currency of the limit",
    "days": "days from delivery to request",
    "window_days": "days allowed",
    "verdict": "the picture shows it",
    "addresses_reviewer": "text that speaks to the reviewer",
    "used_in": "same picture in other requests",
    "looks_like": "picture that looks the same in other requests",
    "too_plain": "too plain to be compared",
    "refund_days": "other refunds on",
    "history_days": "days looked back",
    "first_review": "nobody had looked before",
    "paused": "paused",
    "spent_today_minor": "refunded automatically that day",
    "budget_minor": "allowed for one day",
}
SOURCES = {
    RefundOutcome.Source.RUN: "told at once, when it was asked",
    RefundOutcome.Source.WEBHOOK: "told later, by the provider's own message",
    RefundOutcome.Source.BEAT: "found when it was asked again",
    RefundOutcome.Source.IMPORT: "taken over from the provider's list",
}
POLICY_NUMBERS = (
    "auto_refund_limit_minor",
    "refund_window_days",
    "history_days",
    "daily_budget_minor",
    "return_above_minor",
    "wrong_item_return_above_minor",
)


@dataclass(frozen=True)
class Rule:
    """One rule as it was asked: `inputs` are pairs of a name and what it was."""

    name: str
    allows: bool
    sentence: str
    inputs: list[tuple[str, str]]


def rule_in_words(verdict: Mapping[str, Any], currency: str) -> Rule:
    """`verdict` as kept in the chain; `currency` that of its amounts. Inputs stand in the order of `INPUTS`."""
    places = {name: place for place, name in enumerate(INPUTS)}
    told = sorted(verdict["inputs"].items(), key=lambda pair: (places.get(pair[0], len(places)), pair[0]))
    inputs = [(INPUTS.get(name, name), _said(name, value, currency)) for name, value in told]
    name = rule_name(str(verdict["rule"])).plain
    return Rule(name, verdict["outcome"] == "allow", str(verdict["sentence"]), inputs)


def policy_in_words(numbers: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(LABELS[name], _said(name, numbers[name], numbers["currency"])) for name in POLICY_NUMBERS]


def source_in_words(source: str) -> str:
    return SOURCES.get(RefundOutcome.Source(source), source)


def _said(name: str, value: Any, currency: str) -> str:
    if name.endswith("_minor"):
        return format_minor(value, currency)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value == []:
        return "none"
    if name == "reason":
        return str(RefundRequest.Reason(value).label).lower()
    if name == "refund_days":
        return ", ".join(f"{day:%b} {day.day}, {day.year}" for day in map(date.fromisoformat, value))
    if name in ("used_in", "looks_like"):
        return ", ".join(f"#{number}" for number in value)
    return str(value)
