"""How good the agent is: the last evaluations side by side, and each trial with its timeline. These pages only read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Min
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from agent.models import Evaluation, Trial
from desk.end_in_words import end_in_words
from desk.evaluation_columns import table_of
from desk.evaluation_scenarios import every_scenario
from desk.evaluation_scope import differ
from desk.frame import frame_of
from desk.kept_timeline import kept_blocks

MOST_COLUMNS = 6
MOST_COPIES = 10
MOST_FAILING = 100
MOST_SISTERS = 50


@dataclass(frozen=True)
class Failing:
    """A scenario that ended wrongly somewhere: for each column the failed trials and the first of them, or None."""

    kind: str
    scenario: str
    cells: list[tuple[int, int] | None]


def evaluations(request: HttpRequest) -> HttpResponse:
    """Four queries beside the frame's, whatever there is to show. `?of=`: the evaluation whose scenarios are listed."""
    suites = list(_of(Evaluation.Kind.SUITE)[:MOST_COLUMNS])
    failing, more = _failing(suites)
    context = {
        "suites": suites,
        "scopes_differ": differ(suites),
        "groups": table_of(suites),
        "every": every_scenario(suites, request.GET.get("of", "")),
        "failing": failing,
        "more_failing": more,
        "copies": list(_of(Evaluation.Kind.AGAIN).select_related("request__line", "asked_by")[:MOST_COPIES]),
        "frame": frame_of(request),
    }
    return render(request, "desk/evaluation/evaluations.html", context)


def trial(request: HttpRequest, trial_id: int) -> HttpResponse:
    """One playing of one scenario: wanted, got, what differs, and its timeline."""
    found = Trial.objects.select_related("evaluation").filter(pk=trial_id).first()
    if found is None:
        raise Http404("There is no such trial. It may have been of an evaluation that is not kept any more.")
    evaluation = found.evaluation
    sisters = Trial.objects.filter(evaluation=evaluation, kind=found.kind, scenario=found.scenario)
    currency = str(found.got.get("currency") or "USD") if isinstance(found.got, dict) else "USD"
    context: dict[str, Any] = {
        "trial": found,
        "evaluation": evaluation,
        "sisters": list(sisters.order_by("number").only("pk", "number", "passed")[:MOST_SISTERS]),
        "wanted": end_in_words(found.wanted, currency),
        "got": end_in_words(found.got, currency),
        "blocks": kept_blocks(found.timeline, played_at=evaluation.created_at),
        "frame": frame_of(request),
    }
    return render(request, "desk/evaluation/trial.html", context)


def _of(kind: Evaluation.Kind) -> Any:
    return Evaluation.objects.filter(kind=kind).order_by("-created_at", "id")


def _failing(suites: Sequence[Evaluation]) -> tuple[list[Failing], bool]:
    """At most MOST_FAILING scenarios in the order of the files, and whether there are more."""
    most = (MOST_FAILING + 1) * MOST_COLUMNS
    failed = Trial.objects.filter(evaluation__in=[suite.pk for suite in suites], passed=False)
    counted = failed.values_list("kind", "scenario", "evaluation").annotate(Count("pk"), Min("pk")).order_by()
    rows = list(counted.order_by("kind", "scenario", "evaluation")[:most])
    by_scenario: dict[tuple[str, str], dict[Any, tuple[int, int]]] = {}
    for kind, scenario, evaluation_id, count, first in rows:
        by_scenario.setdefault((kind, scenario), {})[evaluation_id] = (count, first)
    found = [Failing(*name, _cells(suites, cells)) for name, cells in by_scenario.items()]
    return found[:MOST_FAILING], len(found) > MOST_FAILING


def _cells(suites: Iterable[Evaluation], cells: dict[Any, tuple[int, int]]) -> list[tuple[int, int] | None]:
    return [cells.get(suite.pk) for suite in suites]
