"""The scenario files of the field reports, and which of their cases have no test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SCENARIOS = Path(__file__).parents[1] / "field" / "scenarios"
NEVER_RUN = {"skip", "skipif", "xfail"}


def untested(file_name: str, tests: dict[str, Any]) -> list[str]:
    """The cases of a scenario file without a test named after them that is always run."""
    cases = [case["id"] for case in json.loads((SCENARIOS / file_name).read_text())["cases"]]
    run = [
        name
        for name, test in tests.items()
        if callable(test) and not NEVER_RUN & {mark.name for mark in getattr(test, "pytestmark", [])}
    ]
    return [case for case in cases if not any(name.startswith(f"test_{case}_") for name in run)]
