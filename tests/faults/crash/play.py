"""Plays a story; one of its runs may die on the way, and others take the work up again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from agent.models import Run
from agent.sweep import sweep
from agent.tasks import work
from payments.settle_in_flight import settle_due_refunds
from refunddesk.demo_shop.emptying import empty_tables
from tests.faults.crash.bank import NAME
from tests.faults.crash.dying_worker import DyingWorker, Worked
from tests.faults.crash.points import points_of
from tests.faults.crash.stories import SHOULD_BE_ASKED_AGAIN, Case, Cast, Story, due_runs

MOST_RUNS = 30


@dataclass(frozen=True)
class Point:
    """The `run`-th run of the story (from 0) dies at `moment`, in each of its first `tries` tries.

    `beat_first`: the beat asks about refunds in flight before a new worker takes the run up, else afterwards.
    """

    story: Story
    run: int
    moment: str
    tries: int = 1
    beat_first: bool = False

    def __str__(self) -> str:
        order = ", beat first" if self.beat_first else ""
        return f"{self.story.name}, run {self.run + 1}, {self.moment}, {self.tries} times{order}"


@dataclass
class Played:
    case: Case
    works: list[Worked] = field(default_factory=list)
    died: int = 0


def play_through(story: Story, cast: Cast, worker: DyingWorker) -> Played:
    """Nobody dies; every run is one process, and its commits and calls are counted."""
    played = Played(opened(story, cast))

    def work_and_count(run: Run) -> None:
        worked = worker.work(run.pk)
        assert worked.exit_code == 0
        played.works.append(worked)

    for act in story.acts:
        act(played.case)
        _work_off(work_and_count)
    return played


def play_and_die(point: Point, cast: Cast, worker: DyingWorker) -> Played:
    """The point's run dies; then, as after a restart, the sweep and a new worker bring the request to rest.

    A story whose run dies in every try ends there.
    """
    played = Played(opened(point.story, cast))
    seen: list[str] = []

    def work_or_die(run: Run) -> None:
        if run.key not in seen:
            seen.append(run.key)
        if seen.index(run.key) != point.run or played.died >= point.tries:
            work(str(run.pk))
            return
        played.died += worker.work(run.pk, fatal=point.moment).died
        time_passes(beat=point.beat_first)

    for act in point.story.acts:
        act(played.case)
        _work_off(work_or_die)
        time_passes(beat=True)
        _work_off(work_or_die)
        if point.tries > 1 and played.died:
            break
    return played


def time_passes(*, beat: bool) -> None:
    """Leases run out and the sweep comes by; with `beat`, somebody asks about refunds in flight."""
    if beat:
        settle_due_refunds(timezone.now() + SHOULD_BE_ASKED_AGAIN)
    Run.objects.filter(status="running").update(lease_until=timezone.now() - timedelta(seconds=1))
    sweep()


def points_in(story: Story, works: list[Worked]) -> list[Point]:
    return [
        Point(story, number, moment)
        for number, worked in enumerate(works)
        if number >= story.first_deaths
        for moment in points_of(worked.commits, worked.calls)
    ]


def opened(story: Story, cast: Cast) -> Case:
    """An empty shop: the same picture in a second request would be one that was used before."""
    with transaction.atomic():
        empty_tables()
    cast.bank.opens(story.bank or "succeeded")
    return Case(cast, story.price_minor, NAME if story.bank else "ledger", story.units)


def _work_off(work_on: Callable[[Run], None]) -> None:
    for _ in range(MOST_RUNS):
        run = due_runs().first()
        if run is None:
            return
        work_on(run)
    raise AssertionError("the runs never came to an end")
