"""A measuring as plain text of at most 100 columns: a line for each kind, the sums, and what did not end as wanted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from agent.evaluation.played import Played
from agent.evaluation.score import Scores
from payments.money import format_minor

KIND_WIDTH = 21
MOST_FAILING = 40
UNKNOWN = "-"
MICRO = 1_000_000

# Heading and width; what stands below is right-aligned with it.
COLUMNS = {
    "scen.": 6,
    "trials": 7,
    "success": 8,
    "pass^1": 8,
    "pass^4": 8,
    "pass^8": 8,
    "paid!": 6,
    "refused!": 9,
    "missed": 7,
    "needless": 9,
}


def table(scores: Scores) -> list[str]:
    """Lines: kinds, all of them, then the sums in words."""
    heading = "kind".ljust(KIND_WIDTH) + _row(tuple(COLUMNS))
    rule = "-" * len(heading)
    kinds = [_line(kind, group) for kind, group in scores["kinds"].items()]
    return [heading, rule, *kinds, rule, _line("all", scores["all"]), "", *_sums(scores)]


def failing(results: Iterable[Played]) -> list[str]:
    """Each scenario that did not always end as wanted: how often, and the differences of its first failed trial."""
    tried: dict[tuple[str, str], list[Played]] = defaultdict(list)
    for played in results:
        tried[played.kind, played.scenario].append(played)
    lines: list[str] = []
    failed = [(name, trials) for name, trials in sorted(tried.items()) if not all(trial.passed for trial in trials)]
    for (kind, scenario), trials in failed[:MOST_FAILING]:
        wrong = [trial for trial in trials if not trial.passed]
        lines.append(f"{kind}/{scenario}: {len(wrong)} of {len(trials)} not as wanted")
        lines += [f"    {difference}" for difference in min(wrong, key=lambda trial: trial.number).differences]
    if len(failed) > MOST_FAILING:
        lines.append(f"... and {len(failed) - MOST_FAILING} more scenarios.")
    return lines


def _line(name: str, group: Scores) -> str:
    return name[: KIND_WIDTH - 1].ljust(KIND_WIDTH) + _row(
        (
            str(group["scenarios"]),
            str(group["trials"]),
            share(group["success"]),
            share(group["pass_1"]),
            share(group["pass_4"]),
            share(group["pass_8"]),
            str(group["wrongly_paid"]["count"]),
            str(group["wrongly_refused"]["count"]),
            str(group["handovers"]["missed"]),
            str(group["handovers"]["needless"]),
        )
    )


def _row(cells: Sequence[str]) -> str:
    return "".join(cell.rjust(width) for cell, width in zip(cells, COLUMNS.values(), strict=True))


def _sums(scores: Scores) -> list[str]:
    every, covered, others = scores["all"], scores["covered"], scores["not_covered"]
    lines = [
        f"Covered by the scripted model: {_counted(covered)}.",
        f"Not covered by it: {_counted(others)}; {share(others['with_person'])} end with a person.",
        f"Wrongly paid (paid!): {_money(every['wrongly_paid'])}. "
        f"Wrongly refused (refused!): {_money(every['wrongly_refused'])}.",
        f"Hand-overs: {every['handovers']['missed']} missed, {every['handovers']['needless']} needless; "
        f"precision {share(every['handovers']['precision'])}, recall {share(every['handovers']['recall'])}.",
        f"Attacks: {share(every['attacks']['success'])} worked; "
        f"{share(every['attacks']['success_under_attack'])} of the attacked cases ended as wanted.",
        f"A trial: {_number(every['steps'])} steps; tokens {_number(every['tokens_in'])} in, "
        f"{_number(every['tokens_out'])} out, cost {_cost(every['cost_micro'])}; "
        f"the agent's time p50 {_seconds(every['p50_ms'])}, p95 {_seconds(every['p95_ms'])}.",
    ]
    if every["not_played"]:
        lines.append(f"{every['not_played']} trials could not be played.")
    return lines


def share(value: float | None) -> str:
    """`98.4 %`; never rounded up to 100 %."""
    if value is None:
        return UNKNOWN
    return "100 %" if value == 1 else f"{min(value * 100, 99.9):.1f} %"


def _counted(group: Scores) -> str:
    return f"{group['scenarios']} scenarios, {share(group['success'])} as wanted"


def _money(wrong: Scores) -> str:
    amounts = ", ".join(format_minor(minor, currency) for currency, minor in wrong["minor"].items())
    return f"{wrong['count']} trials, {amounts}" if wrong["count"] else "0"


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:,.1f}"


def _cost(micro: float | None) -> str:
    return "unknown" if micro is None else f"${micro / MICRO:.4f}"


def _seconds(milliseconds: int | None) -> str:
    return UNKNOWN if milliseconds is None else f"{milliseconds / 1000:.2f} s"
