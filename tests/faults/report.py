"""What was tried and what did not hold, in lines that can be counted, and the table that closes `make faults`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MOST_NAMED = 20
COUNTED = "counted"
LINE = re.compile(r"([a-z ]+) (\d+), failures (\d+)")


@dataclass
class FaultReport:
    """`what`: the plural of what is tried, such as `crash points`."""

    what: str
    tried: int = 0
    failures: list[str] = field(default_factory=list)

    def note(self, name: object, wrong: list[str]) -> None:
        self.tried += 1
        if wrong:
            self.failures.append(f"{name}: {'; '.join(wrong)}")

    def add(self, other: FaultReport) -> None:
        self.tried += other.tried
        self.failures += other.failures

    @property
    def line(self) -> str:
        return f"{self.what} {self.tried}, failures {len(self.failures)}"

    @property
    def whole(self) -> str:
        return "\n".join([self.line, *self.failures[:MOST_NAMED]])


def read_line(line: str) -> FaultReport | None:
    """A report out of its own `line`, its failures without names; None for any other text."""
    found = LINE.fullmatch(line)
    if found is None:
        return None
    what, tried, failures = found.groups()
    return FaultReport(what, int(tried), [f"{what}: see the output above"] * int(failures))


def table(found: dict[str, dict[str, FaultReport]], *, passed: bool) -> str:
    """Where it was run -> kind -> what was tried. The last line is what it all comes to."""
    lines = [""]
    for place, reports in found.items():
        lines += [place, *(f"  {report.line}" for report in reports.values())]
        lines += [f"    {failure}" for report in reports.values() for failure in report.failures[:MOST_NAMED]]
    total = sum(len(report.failures) for reports in found.values() for report in reports.values())
    if not passed and not total:
        lines.append("A run did not end as it should, or nothing of some kind was tried; the output above says why.")
    return "\n".join([*lines, f"failures {total}"])
