"""Plays stories one after another and says how each ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from refunddesk.tour.door import Door, NotReached, Refused
from refunddesk.tour.screen import Screen
from refunddesk.tour.stage import Stage, StoryStopped
from refunddesk.tour.stories import STORIES, Story


class CannotStart(Exception):
    """The shop is not in the state of its first day; the sentence says what to do."""


@dataclass(frozen=True)
class Ending:
    """How one story ended: `held` of `checks` things were as they must be; `stopped` says why it could not go on."""

    story: Story
    request: str
    status: str
    held: int
    checks: int
    stopped: str

    @property
    def good(self) -> bool:
        return not self.stopped and self.held == self.checks > 0


def check_first_day(door: Door, stories: Iterable[Story] = STORIES) -> None:
    """Raises CannotStart when the demo's orders are missing or a story's line was asked for before."""
    for person, order, sku in [story.line for story in stories if story.line]:
        lines = {(row["number"], line["sku"]): line for row in door.get(person, "orders") for line in row["lines"]}
        line = lines.get((order, sku))
        if line is None:
            raise CannotStart(f"{order} is not in the shop. Add the demo data first: manage.py seed")
        if line["request"] is not None:
            raise CannotStart(
                f"{person.first_name} already asked for {order} {sku}, so the stories were played (or begun) before. "
                "To play them again, run reset: manage.py reset"
            )


def play(stage: Stage, stories: Iterable[Story] = STORIES) -> Iterator[Ending]:
    """Each story's ending as soon as it is there; a story that stops does not keep the others from being played."""
    for story in stories:
        yield _play_one(stage, story)


def _play_one(stage: Stage, story: Story) -> Ending:
    stage.checks = []
    stage.screen.story(story.number, story.title)
    stopped = ""
    try:
        story.play(stage)
    except (StoryStopped, Refused, NotReached) as error:
        stopped = str(error)
        stage.screen.stopped(stopped)
    case = stage.cases.get(story.case)
    return Ending(
        story=story,
        request=f"#{case.number}" if case else "none",
        status=case.status if case else "not asked",
        held=sum(check.good for check in stage.checks),
        checks=len(stage.checks),
        stopped=stopped,
    )


def print_endings(screen: Screen, endings: list[Ending]) -> None:
    screen.table(
        (
            f"{ending.story.number:>2} {ending.story.title}",
            ending.request,
            ending.status,
            f"{ending.held}/{ending.checks}" + ("+" if ending.stopped else ""),
            ending.good,
        )
        for ending in endings
    )
