"""The scenario files of the field reports: the case a test plays, what its words say, and which cases nobody plays."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SCENARIOS = Path(__file__).parents[1] / "field" / "scenarios"
FILES = {"m": "money_cases.json", "p": "provider_sequences.json", "t": "time_cases.json"}
NEVER_RUN = {"skip", "skipif", "xfail"}
EXPECTATIONS = {"expected", "expected_provider_amount"}
NUMBERS = {"no": 0, "one": 1, "once": 1, "two": 2, "twice": 2, "three": 3}


class Case(dict[str, Any]):
    """A case of a file; it keeps which of its entries the test has read."""

    def __init__(self, entries: dict[str, Any]) -> None:
        super().__init__(entries)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getitem__(name)

    @property
    def expected(self) -> str:
        return str(self["expected"])


def cases_of(file_name: str) -> dict[str, dict[str, Any]]:
    cases = json.loads((SCENARIOS / file_name).read_text())["cases"]
    assert len({case["id"] for case in cases}) == len(cases)
    return {case["id"]: case for case in cases}


@pytest.fixture
def case(request: pytest.FixtureRequest) -> Iterator[Case]:
    """The case the test is named after (`test_m01_...` plays m01); a test that never reads what it expects fails."""
    case_id = request.function.__name__.split("_")[1]
    played = Case(cases_of(FILES[case_id[0]])[case_id])
    yield played
    wanted = EXPECTATIONS & played.keys() or {"cases"}
    assert wanted <= played.read, f"{case_id}: the test does not compare with what the file expects"


def untested(file_name: str, *places: dict[str, Any]) -> list[str]:
    """The cases of a file that no test in `places` (namespaces of test modules) plays on every run."""
    playing = {
        name
        for place in places
        for name, test in place.items()
        if inspect.isfunction(test)
        and not NEVER_RUN & {mark.name for mark in getattr(test, "pytestmark", [])}
        and "case" in inspect.signature(test).parameters
    }
    return [case for case in cases_of(file_name) if not any(name.startswith(f"test_{case}_") for name in playing)]


def how_many(text: str, thing: str) -> int:
    """`how_many("one decision row, no mail", "mail")` is 0. Fails when the text does not say."""
    found = re.search(rf"\b({'|'.join(NUMBERS)}) {re.escape(thing)}\b", text)
    assert found, f"“{text}” does not say how many of “{thing}”"
    return NUMBERS[found[1]]


def how_often(text: str, what: str) -> int:
    """`how_often("customer told once", "told")` is 1. Fails when the text does not say."""
    found = re.search(rf"\b{re.escape(what)} ({'|'.join(NUMBERS)})\b", text)
    assert found, f"“{text}” does not say how often “{what}”"
    return NUMBERS[found[1]]


def after(text: str, words: str) -> str:
    """The word behind `words`; fails when they are not there."""
    found = re.search(rf"{re.escape(words)} ([\w.]+)", text)
    assert found, f"“{text}” does not say “{words}”"
    return found[1]


def cents(text: str) -> list[int]:
    """Every amount with two decimals, in minor units."""
    return [int(whole + part) for whole, part in re.findall(r"(\d+)\.(\d\d)\b", text)]


def numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def quoted(text: str) -> list[str]:
    return re.findall(r'"([^"]+)"', text)
