"""Every scenario of one evaluation, by kind, each with the trial whose timeline was kept first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Min, Q

from agent.models import Evaluation, Trial

MOST_SCENARIOS = 600


@dataclass(frozen=True)
class ScenarioPlayed:
    """`trial_id`: its first trial with a timeline, else any of them."""

    name: str
    trials: int
    failed: int
    trial_id: int


@dataclass(frozen=True)
class KindPlayed:
    name: str
    scenarios: list[ScenarioPlayed]

    @property
    def failed(self) -> int:
        return sum(bool(scenario.failed) for scenario in self.scenarios)


@dataclass(frozen=True)
class EveryScenario:
    evaluation: Evaluation
    kinds: list[KindPlayed]
    more: bool


def every_scenario(suites: Sequence[Evaluation], wanted: str) -> EveryScenario | None:
    """Of the suite with the key `wanted`, else of the newest that has ended. One query, none without suites."""
    ended = [suite for suite in suites if suite.status == Evaluation.Status.DONE] or list(suites)
    chosen = next((suite for suite in suites if str(suite.pk) == wanted), next(iter(ended), None))
    if chosen is None:
        return None
    kept = Q(number=1) | Q(passed=False)
    counted = Trial.objects.filter(evaluation=chosen).values("kind", "scenario").order_by("kind", "scenario")
    rows = list(
        counted.annotate(
            trials=Count("pk"), failed=Count("pk", filter=Q(passed=False)), kept=Min("pk", filter=kept), any=Min("pk")
        )[: MOST_SCENARIOS + 1]
    )
    kinds: dict[str, list[ScenarioPlayed]] = {}
    for row in rows[:MOST_SCENARIOS]:
        scenario = ScenarioPlayed(row["scenario"], row["trials"], row["failed"], row["kept"] or row["any"])
        kinds.setdefault(row["kind"], []).append(scenario)
    return EveryScenario(
        chosen, [KindPlayed(name, scenarios) for name, scenarios in kinds.items()], len(rows) > MOST_SCENARIOS
    )
