from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest

from refunddesk.tour.screen import Line, Screen

LINE = Line(
    rev=3,
    at=datetime(2026, 3, 20, 18, 4, 5, tzinfo=UTC),
    actor="agent",
    name="Agent",
    title="Looked up order PH-20388",
    detail="1 item, delivered 9 days ago",
    for_customer=False,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_step_is_printed_with_the_shops_clock_who_acted_and_what_it_found() -> None:
    out = io.StringIO()
    Screen(out).line(LINE)
    first, second = out.getvalue().splitlines()
    assert first.split() == ["11:04:05", "○", "Agent", "Looked", "up", "order", "PH-20388"]
    assert second.strip() == "1 item, delivered 9 days ago"


def test_colour_is_only_for_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    plain, terminal = io.StringIO(), Terminal()
    Screen(plain).line(LINE)
    Screen(terminal).line(LINE)
    assert "\x1b" not in plain.getvalue()
    assert "\x1b" in terminal.getvalue()


def test_no_color_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = Terminal()
    Screen(terminal).line(LINE)
    assert "\x1b" not in terminal.getvalue()


def test_a_check_that_does_not_hold_says_what_was_seen() -> None:
    out = io.StringIO()
    screen = Screen(out)
    screen.check("amount on the card", "")
    screen.check("no money moved", "expected [], saw [3400]")
    assert out.getvalue().splitlines() == [
        "    ✓ amount on the card",
        "    ✗ no money moved: expected [], saw [3400]",
    ]


def test_the_table_lines_up_and_says_which_story_was_not_as_it_should() -> None:
    out = io.StringIO()
    Screen(out).table(
        [(" 1 a dented kettle", "#1010", "refunded", "4/4", True), ("10 a claim", "#1018", "declined", "2/5", False)]
    )
    head, kettle, claim = out.getvalue().splitlines()[1:]
    assert kettle.index("#1010") == claim.index("#1018") == head.index("request")
    assert kettle.endswith("4/4      as it should")
    assert claim.endswith("2/5      NOT as it should")
