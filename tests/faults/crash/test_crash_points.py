"""A worker dies around every commit and every provider call of every kind of case, one moment at a time.

FAULTS_FULL=1 tries all of them; otherwise every so-manieth, spread over all stories.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from payments.providers.choose import PROVIDERS
from tests.faults.crash.at_rest import told, what_is_wrong, what_would_need_an_engineer
from tests.faults.crash.bank import FOLDER, NAME, Bank
from tests.faults.crash.dying_worker import DyingWorker, dying_worker
from tests.faults.crash.play import Point, play_and_die, play_through, points_in
from tests.faults.crash.stories import STORIES, Cast
from tests.faults.report import COUNTED, FaultReport

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.faults, pytest.mark.timeout(3600)]
FULL = bool(os.environ.get("FAULTS_FULL"))
EVERY = 1 if FULL else 32
ALWAYS_EVERY = 4 if FULL else 128
MOST_TRIES = 3


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bank:
    folder = tmp_path / "bank"
    folder.mkdir()
    monkeypatch.setenv(FOLDER, str(folder))
    bank = Bank(folder)
    monkeypatch.setitem(PROVIDERS, NAME, bank)
    return bank


@pytest.fixture
def worker(
    transactional_db: None, bank: Bank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[DyingWorker]:
    monkeypatch.setattr("agent.announce.ring", lambda run_id: True)
    with dying_worker(tmp_path / "worker.log") as process:
        yield process


def test_whatever_moment_a_worker_dies_in_the_case_ends_as_if_it_had_not(
    worker: DyingWorker, bank: Bank, tell: Callable[[str], None], record_property: Callable[[str, object], None]
) -> None:
    cast, once, always = Cast(bank), FaultReport("crash points"), FaultReport("points that kill every try")
    points: list[Point] = []
    messages: dict[str, list[str]] = {}
    for story in STORIES:
        played = play_through(story, cast, worker)
        wrong = what_is_wrong(story, played.case) + story.what_is_wrong_with_the_money(played.case)
        assert wrong == [], story.name
        messages[story.name] = list(filter(story.told_in_any_case, told(played.case)))
        assert story.tells in ("", *messages[story.name])
        points += points_in(story, played.works)

    for number, point in enumerate(points[::EVERY]):
        chosen = replace(point, beat_first=number % 2 == 1)
        once.note(chosen, die_once(chosen, cast, worker, messages[point.story.name]))
    for number, point in enumerate(points[ALWAYS_EVERY // 2 :: ALWAYS_EVERY]):
        chosen = replace(point, tries=MOST_TRIES, beat_first=number % 2 == 1)
        always.note(chosen, die_always(chosen, cast, worker))

    for report in (once, always):
        record_property(COUNTED, report.line)
    tell(f"{once.line} (of {len(points)} moments in {len(STORIES)} stories); {always.line}")
    assert (once.failures, always.failures) == ([], []), f"{once.whole}\n{always.whole}"


def die_once(point: Point, cast: Cast, worker: DyingWorker, messages: list[str]) -> list[str]:
    """The customer reads the same as if nothing had happened."""
    played = play_and_die(point, cast, worker)
    wrong = what_is_wrong(point.story, played.case) + point.story.what_is_wrong_with_the_money(played.case)
    if played.died != 1:
        wrong.append("nobody died there")
    if list(filter(point.story.told_in_any_case, told(played.case))) != messages:
        wrong.append(f"the customer was told {told(played.case)}")
    return wrong


def die_always(point: Point, cast: Cast, worker: DyingWorker) -> list[str]:
    """The story does not go on as it should, but a person has the request or it has come to its end."""
    played = play_and_die(point, cast, worker)
    return what_would_need_an_engineer(played.case)
