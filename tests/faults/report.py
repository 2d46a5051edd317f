"""What the harness tried and what did not hold, in lines that can be counted."""

from __future__ import annotations

from dataclasses import dataclass, field

MOST_NAMED = 20


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

    @property
    def line(self) -> str:
        return f"{self.what} {self.tried}, failures {len(self.failures)}"

    @property
    def whole(self) -> str:
        return "\n".join([self.line, *self.failures[:MOST_NAMED]])
