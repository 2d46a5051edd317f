"""Playing in scratch processes: real ones, that come and go."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from pytest_django.fixtures import Settings

from agent.evaluation import template
from agent.evaluation.child import Child, ChildDied, started_child
from agent.evaluation.job import Job
from agent.evaluation.options import BadOptions, Options
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


SECRETS = (
    "STRIPE_SECRET_KEY",
    "STRIPE_WEBHOOK_SECRET",
    "PHOTO_BUCKET",
    "REDIS_URL",
    "DATABASE_URL",
    "SECRET_KEY",
    "POSTGRES_PASSWORD",
    "AWS_SECRET_ACCESS_KEY",
    "A_PROVIDER_OF_TOMORROW_KEY",
)


def test_a_scratch_process_has_no_way_to_the_shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SECRETS:
        monkeypatch.setenv(name, "of-the-shop")
    environment = scratch_environment(tmp_path)
    assert "of-the-shop" not in environment.values()
    assert environment["REDIS_URL"] == "memory://"


def test_a_scratch_process_has_the_models_and_the_way_to_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LLM_CHAIN", "LLM_GROQ_API_KEY", "HTTPS_PROXY", "no_proxy", "LANG", "CALL_MAX_SECONDS"):
        monkeypatch.setenv(name, "shared")
    environment = scratch_environment(tmp_path)
    assert [name for name, value in environment.items() if value == "shared"] == [
        name for name in os.environ if os.environ[name] == "shared"
    ]
    assert len(environment["SECRET_KEY"]) >= 50


def test_what_the_env_file_holds_is_not_read_by_a_scratch_process(tmp_path: Path, settings: Settings) -> None:
    settings.BASE_DIR = tmp_path
    keys = "".join(f"{name}=of-the-file\n" for name in SECRETS)
    (tmp_path / ".env").write_text(f"# a note\n{keys}export MAIL_PASSWORD=of-the-file\nLLM_GROQ_API_KEY=of-the-file\n")
    environment = scratch_environment(tmp_path)
    assert {*SECRETS, "MAIL_PASSWORD"} <= set(environment)
    assert (environment["A_PROVIDER_OF_TOMORROW_KEY"], environment["MAIL_PASSWORD"]) == ("", "")
    assert "LLM_GROQ_API_KEY" not in environment


def test_what_goes_wrong_is_a_sentence_and_its_details_are_in_the_log(
    scratch: Scratch, caplog: pytest.LogCaptureFixture
) -> None:
    with started_child(scratch) as child:
        played = child.play(Job(scenario=CARAFE, options=Options(policy={"refund_window_days": "soon"})), seconds=60)
    assert played.not_played == "Something went wrong in the program; the log says what."
    assert "expected a number but got 'soon'" in caplog.text


def test_a_template_that_cannot_be_made_is_a_sentence_too(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(template, "_folders", [])
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "no.such.settings")
    with pytest.raises(ScratchTrouble) as trouble:
        template.migrated_template()
    assert trouble.value.sentence == "The scratch database could not be made; the log says why."
    assert "ModuleNotFoundError" in caplog.text
