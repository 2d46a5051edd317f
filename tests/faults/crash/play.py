"""Plays a story; one of its runs may die on the way, and others take the work up again."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from django.core.management import CommandError, call_command
from django.db import transaction
from django.db.models import QuerySet, Sum
from django.utils import timezone

from agent.models import Approval, Decision, Run
from agent.sweep import sweep
from agent.tasks import work
from intake.models import RefundRequest, Step
from payments.models import LIVE_REFUND_STATUSES, Charge, Refund
from payments.settle_in_flight import settle_due_refunds
from refunddesk.demo_shop.emptying import empty_tables
from tests.faults.crash.dying_worker import DyingWorker, Worked
from tests.faults.crash.points import points_of
from tests.faults.crash.stories import Case, Cast, Story

MOST_RUNS = 30
SHOULD_BE_ASKED_AGAIN = timedelta(minutes=5)


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
    played = Played(_open(story, cast))

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
    played = Played(_open(point.story, cast))
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
        for moment in points_of(worked.commits, worked.calls)
    ]


def told(case: Case) -> list[str]:
    steps = Step.objects.filter(request=case.request, for_customer=True)
    return [str(title) for title in steps.order_by("position").values_list("message_key", flat=True)]


def what_is_wrong(story: Story, case: Case) -> list[str]:
    """Everything about the request at rest that is not as it should be; empty when all is."""
    request = case.request
    request.refresh_from_db()
    paid = tuple(Refund.objects.filter(request_uuid=request.uuid).values_list("status", flat=True))
    wrong = [] if request.status == story.ends else [f"it stands in {request.status}"]
    if paid != story.paid:
        wrong.append(f"its refunds are {paid}")
    return wrong + what_would_need_an_engineer(request)


def what_would_need_an_engineer(request: RefundRequest) -> list[str]:
    """Whatever the end: nothing hangs, the money adds up, the book can be computed again."""
    request.refresh_from_db()
    wrong = []
    live = Refund.objects.filter(request_uuid=request.uuid, status__in=LIVE_REFUND_STATUSES)
    if live.count() > 1:
        wrong.append("it has two live refunds")
    if request.status in ("submitted", "working"):
        wrong.append(f"it hangs in {request.status}")
    if request.status == "refunding" and not live.exists():
        wrong.append("it waits for a refund that is not there")
    if Step.objects.filter(state="running").exists():
        wrong.append("a step is left running")
    if Run.objects.filter(status="running").exists() or _due().exists():
        wrong.append("a run is left")
    cards = Approval.objects.filter(request=request, closed_at=None).count()
    if cards != (request.status == "needs_approval"):
        wrong.append(f"it has {cards} open cards")
    if Decision.objects.filter(carried_out_at=None, set_aside_at=None).exists():
        wrong.append("a decision is neither carried out nor set aside")
    return wrong + _wrong_sums() + _wrong_book()


def _wrong_sums() -> list[str]:
    wrong = []
    for charge in Charge.objects.all():
        sums = charge.refunds.filter(status__in=LIVE_REFUND_STATUSES).aggregate(total=Sum("amount_minor"))
        if charge.reserved_minor != (sums["total"] or 0):
            wrong.append(f"the charge holds {charge.reserved_minor} and its refunds come to {sums['total']}")
    return wrong


def _wrong_book() -> list[str]:
    out = io.StringIO()
    try:
        call_command("verify", stdout=out)
    except CommandError:
        return [out.getvalue().strip()]
    return []


def _open(story: Story, cast: Cast) -> Case:
    """An empty shop: the same picture in a second request would be one that was used before."""
    with transaction.atomic():
        empty_tables()
    return Case(cast, story.price_minor)


def _due() -> QuerySet[Run]:
    return Run.objects.filter(status="queued", due_at__lte=timezone.now()).order_by("due_at", "id")


def _work_off(work_on: Callable[[Run], None]) -> None:
    for _ in range(MOST_RUNS):
        run = _due().first()
        if run is None:
            return
        work_on(run)
    raise AssertionError("the runs never came to an end")
