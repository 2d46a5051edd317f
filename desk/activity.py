"""The timeline as staff read it: steps grouped into runs, people's acts between them, and who was waited for."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property

from agent.models import Run
from desk.durations import short_milliseconds, span_between
from desk.names import first_name
from intake.models import RefundRequest, Step

MOST_STEPS = 400
MOST_RUNS = 200
# A run starts within a second or two; only a longer gap before it is worth a line.
WORTH_TELLING = timedelta(seconds=30)
AGENT = "the agent"
WAITED_FOR = {
    Run.Trigger.CHECK: "the parcel",
    Run.Trigger.LATE: "an answer",
    Run.Trigger.OUTCOME: "the bank",
    Run.Trigger.RECEIPT: "the parcel",
}


@dataclass(frozen=True)
class Wait:
    """The gap before a block: how long and for whom; `tone` is the colour of that state."""

    text: str
    tone: str


@dataclass
class Block:
    """Steps that belong together: those of one `run` (`number` counts the started ones), or people's acts between.

    `wait` tells the gap before it; None when there is none worth telling.
    """

    key: str
    steps: list[Step]
    run: Run | None = None
    number: int | None = None
    wait: Wait | None = None

    @property
    def first_position(self) -> int:
        return self.steps[0].position

    @property
    def ended_at(self) -> datetime:
        last = self.steps[-1].created_at
        return max(last, self.run.ended_at) if self.run and self.run.ended_at else last


@dataclass(frozen=True)
class Activity:
    """`blocks` in the order of their first step; `running` is the run at work now; `stamp` changes with the card."""

    request: RefundRequest
    blocks: list[Block]
    runs: list[Run]
    running: Run | None
    queued: Run | None
    stamp: str
    started: list[Run] = field(default_factory=list)

    @property
    def last_model(self) -> str:
        return next((model_of(run) for run in reversed(self.started) if run.model or run.provider), "")

    @property
    def time_spent(self) -> str:
        """How long all ended runs took together; empty while none has ended."""
        spans = [run.ended_at - run.started_at for run in self.started if run.ended_at and run.started_at]
        total = sum(spans, timedelta())
        return short_milliseconds(int(total.total_seconds() * 1000)) if spans else ""

    @cached_property
    def titles(self) -> dict[int, str]:
        """The title of each step on the page, by its position."""
        return {step.position: step.title for block in self.blocks for step in block.steps}

    @property
    def step_is_running(self) -> bool:
        return any(step.state == Step.State.RUNNING for block in self.blocks for step in block.steps)


def model_of(run: Run) -> str:
    return "scripted model" if run.provider == "scripted" else run.model


def load_activity(request: RefundRequest) -> Activity:
    """The last MOST_STEPS steps of the request and its runs, in two queries; `customer` should be loaded."""
    newest = request.steps.select_related("actor_user").order_by("-position")[:MOST_STEPS]
    steps = list(reversed(newest))
    runs = list(reversed(request.runs.order_by("-created_at", "-id")[:MOST_RUNS]))
    started = sorted((run for run in runs if run.started_at), key=_started_at)
    return Activity(
        request=request,
        blocks=blocks_of(request, steps, started),
        runs=runs,
        running=next((run for run in runs if run.status == Run.Status.RUNNING), None),
        queued=_next_due(runs),
        stamp=_stamp(request, steps),
        started=started,
    )


def blocks_of(request: RefundRequest, steps: Iterable[Step], started: Sequence[Run]) -> list[Block]:
    """Groups steps (in position order): all of a run into one block, neighbouring steps without a run into another."""
    numbers = {run.pk: number for number, run in enumerate(started, start=1)}
    by_id = {run.pk: run for run in started}
    blocks: list[Block] = []
    of_run: dict[uuid.UUID, Block] = {}
    for step in steps:
        if step.run_uuid in of_run:
            of_run[step.run_uuid].steps.append(step)
            continue
        run = by_id.get(step.run_uuid) if step.run_uuid else None
        wait = _wait_before(request, blocks[-1], step, run) if blocks else None
        if step.run_uuid is None and blocks and wait is None and not _of_a_run(blocks[-1]):
            blocks[-1].steps.append(step)
            continue
        key = f"steps-{step.position}" if step.run_uuid is None else f"run-{step.run_uuid}"
        block = Block(key, [step], run, numbers[run.pk] if run else None, wait)
        blocks.append(block)
        if step.run_uuid is not None:
            of_run[step.run_uuid] = block
    return blocks


def _of_a_run(block: Block) -> bool:
    return block.steps[0].run_uuid is not None


def _wait_before(request: RefundRequest, previous: Block, step: Step, run: Run | None) -> Wait | None:
    short = step.created_at - previous.ended_at < WORTH_TELLING
    after_run = _of_a_run(previous)
    if run is not None:
        name = WAITED_FOR.get(Run.Trigger(run.trigger), AGENT) if after_run else AGENT
        return None if short and not after_run else _waited(previous, step, name, "quiet")
    if short and not after_run:
        return None
    if step.actor == Step.Actor.STAFF:
        return _waited(previous, step, first_name(step.actor_user) or "staff", "person")
    if step.actor == Step.Actor.CUSTOMER:
        return _waited(previous, step, first_name(request.customer), "customer")
    return None


def _waited(previous: Block, step: Step, waited_for: str, tone: str) -> Wait:
    return Wait(f"waited {span_between(previous.ended_at, step.created_at)} for {waited_for}", tone)


def _next_due(runs: Sequence[Run]) -> Run | None:
    queued = [run for run in runs if run.status == Run.Status.QUEUED]
    return min(queued, key=lambda run: run.due_at, default=None)


def _started_at(run: Run) -> datetime:
    return run.started_at or run.created_at


def _stamp(request: RefundRequest, steps: Sequence[Step]) -> str:
    """Another value whenever what stands left of the timeline may have changed: status, or a step that is no tool."""
    last = next((step.rev for step in reversed(steps) if step.kind != Step.Kind.TOOL), 0)
    return f"{request.status}-{request.status_changed_at:%Y%m%d%H%M%S%f}-{last}"
