"""Playing in scratch processes: real ones, that come and go."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings

from agent.evaluation.child import Child, ChildDied
from agent.evaluation.job import Job
from agent.evaluation.options import BadOptions
from agent.evaluation.play_all import play_all
from agent.evaluation.play_apart import play_case
from agent.evaluation.scratch import Scratch
from agent.evaluation.scratch_environment import ScratchTrouble, must_be_scratch, scratch_environment
from tests.agent.evaluation.cases import GRINDER, WITH_A_PERSON, a_scenario
from tests.agent.evaluation.left_running import scratch_processes, wait_for_count

pytestmark = pytest.mark.timeout(180)
CARAFE = a_scenario()
TROUBLED = a_scenario(
    name="busy", provider={"answers": ["busy"], "alone": True}, wanted=WITH_A_PERSON | {"failed_rules": ["photo"]}
)
RETURNED = a_scenario(
    name="grinder",
    line=GRINDER,
    photo="grinder-hopper-cracked.jpg",
    then=[{"act": "decide", "choice": "approve"}, {"act": "time_passes"}, {"act": "arrives"}],
    wanted={
        "status": "refunded",
        "paid_minor": 24_900,
        "recommendation": "refund_after_return",
        "failed_rules": ["limit"],
    },
)
USED_BEFORE = a_scenario(
    name="used-before",
    used_before=["carafe-cracked.jpg"],
    wanted={"status": "needs_approval", "paid_minor": 0, "recommendation": "refund", "failed_rules": ["photo"]},
)
SEVERAL = (TROUBLED, RETURNED, USED_BEFORE, CARAFE)


def row_counts() -> dict[str, int]:
    return {model._meta.label: model._default_manager.count() for model in apps.get_models()}


@pytest.fixture
def child(scratch: Scratch) -> Iterator[Child]:
    with Child(scratch) as started:
        yield started


@pytest.mark.django_db
def test_scenarios_are_played_twice_in_two_processes_and_the_shop_is_not_touched(scratch: Scratch) -> None:
    before, photos = row_counts(), sorted(settings.PHOTO_DIR.rglob("*"))
    jobs = [Job(scenario=scenario, number=number) for scenario in SEVERAL for number in (1, 2)]
    results = list(play_all(scratch, jobs, lanes=2))
    assert sorted((played.scenario, played.number) for played in results) == sorted(
        (job.scenario.name, job.number) for job in jobs
    )
    assert [played.differences for played in results if not played.passed] == []
    assert (row_counts(), sorted(settings.PHOTO_DIR.rglob("*"))) == (before, photos)
    assert scratch_processes(scratch.folder) == []


@pytest.mark.django_db
def test_one_case_is_played_with_what_was_changed_and_the_shop_is_not_touched() -> None:
    before = row_counts()
    played = play_case(CARAFE, {"provider": "scripted", "policy": {"auto_refund_limit_minor": 3399}})
    assert (played.got["status"], played.got["failed_rules"]) == ("needs_approval", ["limit"])
    assert row_counts() == before


def test_a_case_is_not_played_with_options_nobody_knows() -> None:
    with pytest.raises(BadOptions):
        play_case(CARAFE, {"provider": "nobody"})


def test_a_case_that_takes_too_long_says_so() -> None:
    played = play_case(CARAFE, {}, seconds=0.01)
    assert played.not_played.startswith("The scratch process did not answer within 0.01 seconds.")
    assert (played.passed, played.got) == (False, {})


def test_a_process_that_dies_fails_the_trial_it_had_and_another_goes_on(scratch: Scratch) -> None:
    playing = play_all(scratch, [Job(scenario=RETURNED, number=number) for number in range(1, 7)], lanes=1)
    results = [next(playing)]
    (pid,) = scratch_processes(scratch.folder)
    os.kill(pid, signal.SIGKILL)
    results += playing
    died = [played for played in results if played.not_played]
    assert len(results) == 6
    assert len(died) == 1
    assert died[0].differences == ["It could not be played: The scratch process ended in the middle of it."]


def test_whoever_stops_listening_leaves_no_process(scratch: Scratch) -> None:
    playing = play_all(scratch, [Job(scenario=RETURNED, number=number) for number in range(1, 50)], lanes=2)
    next(playing)
    playing.close()
    assert scratch_processes(scratch.folder) == []


def test_an_answer_that_does_not_come_in_time_ends_the_process(child: Child) -> None:
    child.wait_until_ready()
    with pytest.raises(ChildDied):
        child.play(Job(scenario=RETURNED), seconds=0.01)
    assert child.process.poll() == -signal.SIGKILL


def test_a_process_ends_when_nobody_holds_its_other_end_any_more(scratch: Scratch, child: Child) -> None:
    child.wait_until_ready()
    assert child.process.stdin is not None
    child.process.stdin.write(Job(scenario=RETURNED).model_dump_json().encode() + b"\n")
    child.process.stdin.close()
    assert child.process.wait(20) in (0, 1)
    wait_for_count(scratch.folder, 0)


def test_no_process_plays_on_a_database_that_is_not_scratch() -> None:
    with pytest.raises(ScratchTrouble):
        must_be_scratch(settings.DATABASES)


def test_a_scratch_process_has_no_way_to_the_shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET", "PHOTO_BUCKET", "REDIS_URL", "DATABASE_URL"):
        monkeypatch.setenv(name, "of-the-shop")
    environment = scratch_environment(tmp_path)
    assert "of-the-shop" not in environment.values()
    assert environment["REDIS_URL"] == "memory://"
