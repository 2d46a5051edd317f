"""The scores of several evaluations as a table: one column for each, one row for each measure, said in words.

Scores come from rows that may be older than a measure: what is missing or of another shape is “not known”.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent.models import Evaluation
from desk.durations import short_milliseconds
from payments.money import format_minor

NOT_KNOWN = "not known"
MOST_KINDS = 60
MICRO = 1_000_000


@dataclass(frozen=True)
class Cell:
    """`tone` "no" marks what must not be: money wrongly paid, an attack that worked. `more` is the small print."""

    text: str
    tone: str = ""
    more: str = ""


@dataclass(frozen=True)
class Row:
    """`hint` says what the measure means, where its name does not."""

    label: str
    cells: list[Cell]
    hint: str = ""


@dataclass(frozen=True)
class Group:
    title: str
    rows: list[Row]


Scores = Mapping[str, Any]
Say = Callable[[Scores], Cell]


def table_of(evaluations: Sequence[Evaluation]) -> list[Group]:
    """The groups of rows from top to bottom; the cells of each row in the order of `evaluations`."""
    all_scores = [_part(evaluation.scores, "all") for evaluation in evaluations]
    groups = [
        Group(title, [Row(label, [say(scores) for scores in all_scores], hint) for label, hint, say in rows])
        for title, rows in MEASURES
    ]
    by_kind = [_part(evaluation.scores, "kinds") for evaluation in evaluations]
    kinds = sorted({str(kind) for scores in by_kind for kind in scores})[:MOST_KINDS]
    rows = [Row(kind.replace("_", " "), [_kind_cell(_part(scores, kind)) for scores in by_kind]) for kind in kinds]
    return [*groups, Group("Trials right, by kind", rows)] if rows else groups


def _count(name: str, *, bad: bool = False) -> Say:
    def say(scores: Scores) -> Cell:
        value = _at(scores, name)
        return Cell(NOT_KNOWN) if value is None else Cell(f"{value:,.0f}", "no" if bad and value else "")

    return say


def _share(name: str, *, bad: bool = False) -> Say:
    def say(scores: Scores) -> Cell:
        value = _at(scores, name)
        return Cell(NOT_KNOWN) if value is None else Cell(percent(value), "no" if bad and value else "")

    return say


def _money(name: str, *, bad: bool = False) -> Say:
    def say(scores: Scores) -> Cell:
        part = _part(scores, name)
        count = _number(part.get("count"))
        if count is None:
            return Cell(NOT_KNOWN)
        sums = [
            format_minor(int(minor), str(currency))
            for currency, minor in sorted(_part(part, "minor").items())
            if _number(minor)
        ]
        return Cell(f"{count:,.0f}", "no" if bad and count else "", " + ".join(sums))

    return say


def _time(name: str) -> Say:
    def say(scores: Scores) -> Cell:
        value = _at(scores, name)
        return Cell(NOT_KNOWN if value is None else short_milliseconds(round(value)))

    return say


def _mean(name: str) -> Say:
    def say(scores: Scores) -> Cell:
        value = _at(scores, name)
        return Cell(NOT_KNOWN if value is None else f"{value:,.1f}".removesuffix(".0"))

    return say


def _tokens(scores: Scores) -> Cell:
    into, out = _at(scores, "tokens_in"), _at(scores, "tokens_out")
    if into is None and out is None:
        return Cell(NOT_KNOWN)
    said = [NOT_KNOWN if value is None else f"{value:,.0f}" for value in (into, out)]
    return Cell(f"{said[0]} in", more=f"{said[1]} out")


def _cost(scores: Scores) -> Cell:
    value = _at(scores, "cost_micro")
    return Cell(NOT_KNOWN if value is None else dollars(value))


def _kind_cell(scores: Scores) -> Cell:
    passed, trials = _number(scores.get("passed")), _number(scores.get("trials"))
    if passed is None or not trials:
        return Cell("–")
    return Cell(f"{passed:,.0f} of {trials:,.0f}", "" if passed == trials else "person")


def percent(share: float) -> str:
    """`100 %` only for all of it, `0 %` only for nothing of it."""
    tenths = int(share * 1000 + 1e-6)
    if share > 0 and tenths == 0:
        return "0.1 %"
    return f"{tenths // 10}.{tenths % 10} %" if tenths % 10 else f"{tenths // 10} %"


def dollars(micro: float) -> str:
    """Millionths of a dollar, exact enough to compare: `$0.0042`, `$1.25`."""
    digits = 2 if micro >= MICRO or not micro else 4
    return f"${micro / MICRO:,.{digits}f}"


def _at(scores: Scores, path: str) -> float | None:
    """The number at `handovers.missed` and the like."""
    *parts, name = path.split(".")
    for part in parts:
        scores = _part(scores, part)
    return _number(scores.get(name))


def _part(scores: Any, name: str) -> Scores:
    part = scores.get(name) if isinstance(scores, Mapping) else None
    return part if isinstance(part, Mapping) else {}


def _number(value: Any) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


MEASURES: tuple[tuple[str, tuple[tuple[str, str, Say], ...]], ...] = (
    (
        "Right ends",
        (
            ("Scenarios", "", _count("scenarios")),
            ("Trials", "", _count("trials")),
            ("Not played", "No end to compare: it failed on the way", _count("not_played")),
            ("Success", "Trials that ended exactly as wanted", _share("success")),
            ("pass^1", "The chance that one trial of a scenario is right", _share("pass_1")),
            ("pass^4", "The chance that four trials in a row are right", _share("pass_4")),
            ("pass^8", "The chance that eight trials in a row are right", _share("pass_8")),
        ),
    ),
    (
        "Money",
        (
            ("Wrongly paid", "More than wanted, or without the wanted person", _money("wrongly_paid", bad=True)),
            ("Wrongly refused", "Ended with less than was wanted", _money("wrongly_refused")),
        ),
    ),
    (
        "Hand-overs",
        (
            ("Missed", "A person was wanted and none was asked", _count("handovers.missed", bad=True)),
            ("Needless", "A person was asked and none was wanted", _count("handovers.needless")),
            ("Precision", "Of the hand-overs, how many were wanted", _share("handovers.precision")),
            ("Recall", "Of the wanted hand-overs, how many came", _share("handovers.recall")),
        ),
    ),
    (
        "Attacks",
        (
            ("Attack success", "Attacks that got what they were after", _share("attacks.success", bad=True)),
            ("Success under attack", "Attacked cases that ended as wanted", _share("attacks.success_under_attack")),
        ),
    ),
    (
        "What it took",
        (
            ("Tokens", "Of one trial, on average", _tokens),
            ("Cost", "Of one trial, on average", _cost),
            ("Steps", "Of one trial, on average", _mean("steps")),
            ("Time, p50", "Half of the trials took no longer", _time("p50_ms")),
            ("Time, p95", "19 of 20 trials took no longer", _time("p95_ms")),
        ),
    ),
)
