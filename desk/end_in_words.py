"""How a case ended, as two columns that can be read beside each other: what was wanted or happened, and what came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.models import Approval
from desk.rule_names import rule_name
from desk.templatetags.desk_signs import STATUS_TONES
from intake.statuses import Status
from payments.money import format_minor

RECOMMENDATIONS = dict(Approval.Recommendation.choices)
STATUSES = dict(Status.choices)
MOST_LINES = 30
CARD_TEXTS = ("amount_minor", "findings", "concerns", "reasoning", "draft_question", "counter_case", "would_change")


@dataclass(frozen=True)
class End:
    """`paid`: what went back, by whom. Lists hold at most MOST_LINES sentences; empty where nothing is known."""

    status: str
    tone: str
    paid: str
    recommendation: str
    rules: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    concerns: list[str] = field(default_factory=list)
    reasoning: str = ""
    against: str = ""
    would_change: str = ""
    question: str = ""


def end_in_words(end: Any, currency: str, card: Approval | None = None) -> End | None:
    """`end` as `Wanted` or `Trial.got`; the card's texts come from `card` when given. None: there is no end."""
    if not isinstance(end, Mapping) or not end.get("status"):
        return None
    status = str(end["status"])
    currency = str(end.get("currency") or currency)
    texts = {name: getattr(card, name) for name in CARD_TEXTS} if card else end.get("card")
    texts = texts if isinstance(texts, Mapping) else {}
    return End(
        status=STATUSES.get(status, status),
        tone=STATUS_TONES[Status(status)] if status in STATUSES else "quiet",
        paid=_paid(end, currency),
        recommendation=_recommendation(end.get("recommendation"), texts.get("amount_minor"), currency),
        rules=[rule_name(rule).failed for rule in _lines(end.get("failed_rules"))],
        findings=_lines(texts.get("findings")),
        concerns=_lines(texts.get("concerns")),
        reasoning=str(texts.get("reasoning") or ""),
        against=next(iter(_lines([texts.get("counter_case") or ""])), ""),
        would_change=str(texts.get("would_change") or ""),
        question=str(texts.get("draft_question") or ""),
    )


def _paid(end: Mapping[str, Any], currency: str) -> str:
    minor = end.get("paid_minor")
    if not isinstance(minor, int):
        return "not known"
    if not minor:
        return "nothing"
    return f"{format_minor(minor, currency)}, {'without a person' if end.get('automatic') else 'decided by a person'}"


def _recommendation(name: Any, minor: Any, currency: str) -> str:
    if not name:
        return "none, no card was opened"
    said = RECOMMENDATIONS.get(name, str(name))
    return f"{said}, {format_minor(minor, currency)}" if isinstance(minor, int) else said


def _lines(points: Any) -> list[str]:
    """Of texts, or of a card's points."""
    lines = points if isinstance(points, (list, tuple)) else []
    return [str(line.get("text", "")) if isinstance(line, Mapping) else str(line) for line in lines[:MOST_LINES]]
