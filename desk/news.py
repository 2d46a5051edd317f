"""What changed for an open page, as fragments that say where they belong: the timeline since a `rev`, the counts."""

from __future__ import annotations

from typing import Any

from django.template.loader import render_to_string

from desk.activity import Activity, Block, load_activity
from desk.frame import Frame
from desk.tail import tail_of
from intake.live_consumer import Fragment, News
from intake.models import RefundRequest, Step

MOST_STEPS_TOLD = 150


def case_news(request: RefundRequest, rev: int) -> News:
    """What a page at `rev` lacks, in at most three queries. `request` was read before (with its customer)."""
    activity = load_activity(request)
    newer = sum(step.rev > rev for block in activity.blocks for step in block.steps)
    if newer > MOST_STEPS_TOLD:
        return News(request.rev, reload=True)
    return News(request.rev, (*_steps(activity.blocks, rev), *_always(activity)))


def counts_and_brake(frame: Frame) -> tuple[Fragment, ...]:
    counts = [
        Fragment(f"count-{link.queue.slug}", render_to_string("desk/frame/count.html", {"link": link}))
        for link in frame.links
        if link.queue.counted
    ]
    return (*counts, Fragment("brake", render_to_string("desk/frame/brake.html", {"frame": frame})))


def _steps(blocks: list[Block], rev: int) -> list[Fragment]:
    """A step's `position` is the `rev` of its first write: a block that begins above `rev` is new to the page."""
    fragments: list[Fragment] = []
    for block in blocks:
        if block.first_position > rev:
            fragments.append(_fragment(block.key, "block", {"block": block}, into="blocks"))
            continue
        newer = [step for step in block.steps if step.rev > rev]
        fragments.extend(_step(step, block) for step in newer)
    return fragments


def _step(step: Step, block: Block) -> Fragment:
    return _fragment(f"step-{step.position}", "step", {"step": step, "block": block}, into=f"{block.key}-steps")


def _always(activity: Activity) -> list[Fragment]:
    """The last line, the sum above the timeline, the head of the last run, and the stamp that tells of a new card."""
    context: dict[str, Any] = {"activity": activity, "tail": tail_of(activity)}
    always = [_fragment(name, template, context) for name, template in ALWAYS.items()]
    runs = [block for block in activity.blocks if block.run is not None]
    heads = [_fragment(f"{block.key}-head", "run_head", {"block": block}) for block in runs[-1:]]
    return heads + always


ALWAYS = {"tail": "tail", "activity-summary": "summary", "stamp": "stamp"}


def _fragment(element_id: str, template: str, context: dict[str, Any], *, into: str = "") -> Fragment:
    return Fragment(element_id, render_to_string(f"desk/activity/{template}.html", context), into, "end")
