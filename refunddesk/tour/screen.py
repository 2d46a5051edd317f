"""What the tour prints: each timeline as it grows, what was checked, and a table at the end."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from django.utils import timezone

BOLD, DIM, RED, GREEN, AMBER, BLUE = "1", "2", "31", "32", "33", "34"
WIDTH = 112
INDENT = 32
COLOUR_OF_ACTOR = {"customer": BLUE, "staff": AMBER, "agent": "35", "system": DIM}


class Output(Protocol):
    """Where the tour writes: a terminal, a file, a test."""

    def write(self, text: str, /) -> object: ...

    def isatty(self) -> bool: ...


@dataclass(frozen=True)
class Line:
    """One step as printed. `actor` is its kind (customer, staff, agent, system), `name` who acted."""

    rev: int
    at: datetime
    actor: str
    name: str
    title: str
    detail: str
    for_customer: bool


class Screen:
    def __init__(self, out: Output) -> None:
        self._out = out
        self._colour = out.isatty() and "NO_COLOR" not in os.environ

    def say(self, text: str = "") -> None:
        self._out.write(text + "\n")

    def story(self, number: int, title: str) -> None:
        self.say()
        self.say(self._in(f"Story {number}: {title}", BOLD))

    def act(self, text: str) -> None:
        self.say(self._in(f"  → {text}", BOLD))

    def line(self, line: Line) -> None:
        """A step: the full dot stands for what the customer reads too."""
        clock = f"{timezone.localtime(line.at):%H:%M:%S}"
        dot = "●" if line.for_customer else "○"
        name = self._in(f"{line.name[:16]:<16}", COLOUR_OF_ACTOR.get(line.actor, DIM))
        self.say(f"    {self._in(clock, DIM)} {dot} {name} {line.title}")
        for part in textwrap.wrap(line.detail, WIDTH - INDENT, max_lines=4, placeholder=" …"):
            self.say(" " * INDENT + self._in(part, DIM))

    def check(self, what: str, problem: str) -> None:
        mark = self._in("✗", RED) if problem else self._in("✓", GREEN)
        self.say(f"    {mark} {what}{': ' + problem if problem else ''}")

    def stopped(self, reason: str) -> None:
        self.say(f"    {self._in('✗', RED)} {reason}")

    def table(self, rows: Iterable[tuple[str, str, str, str, bool]]) -> None:
        """Rows of story, request, end, checks, and whether all was well."""
        rows = list(rows)
        wide = max(len(row[0]) for row in rows)
        self.say()
        self.say(self._in(f"{'story':<{wide}}  {'request':<14} {'ended as':<16} {'checks':<8} result", BOLD))
        for story, request, end, checks, good in rows:
            result = self._in("as it should", GREEN) if good else self._in("NOT as it should", RED)
            self.say(f"{story:<{wide}}  {request:<14} {end:<16} {checks:<8} {result}")

    def _in(self, text: str, colour: str) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self._colour else text
