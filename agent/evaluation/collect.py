"""Finds the scenario files: one folder for each kind."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from django.conf import settings
from pydantic import ValidationError

from agent.evaluation.options import BadOptions
from agent.evaluation.scenario import Scenario, read_scenario

SCENARIOS = Path(settings.BASE_DIR) / "fixtures" / "scenarios"


class BadScenario(Exception):
    """A scenario file cannot be used; `sentence` names it and says why."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


def collect(only: Collection[str] = (), folder: Path = SCENARIOS) -> list[Scenario]:
    """All scenarios, or those whose kind or name is among `only`. Raises BadScenario, and BadOptions when a word of
    `only` fits none."""
    scenarios = [_read(path) for path in sorted(folder.glob("*/*.json")) if path.parent.name != "photos"]
    _names_must_differ(scenarios)
    words = {word for scenario in scenarios for word in (scenario.kind, scenario.name)}
    unknown = sorted(set(only) - words)
    if unknown:
        kinds = ", ".join(sorted({scenario.kind for scenario in scenarios})) or "none"
        raise BadOptions(f"No kind or scenario is called {', '.join(unknown)}; the kinds are {kinds}.")
    if not scenarios:
        raise BadOptions(f"There are no scenarios in {folder}.")
    return [scenario for scenario in scenarios if not only or {scenario.kind, scenario.name} & set(only)]


def _read(path: Path) -> Scenario:
    try:
        return read_scenario(path)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadScenario(f"{path}: {place}: {first['msg']}.") from None
    except (ValueError, OSError) as error:
        raise BadScenario(str(error)) from None


def _names_must_differ(scenarios: list[Scenario]) -> None:
    seen: dict[str, str] = {}
    for scenario in scenarios:
        if scenario.name in seen:
            raise BadScenario(
                f"Two scenarios are called {scenario.name}: in {seen[scenario.name]} and {scenario.kind}."
            )
        seen[scenario.name] = scenario.kind
