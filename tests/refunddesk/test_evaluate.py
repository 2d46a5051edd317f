"""`manage.py evaluate`, with real scratch processes."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.utils import timezone

from agent.evaluation.template import migrated_template
from agent.models import Evaluation, Trial
from tests.agent.evaluation.cases import WITH_A_PERSON, write_scenario
from tests.agent.evaluation.left_running import wait_for_count
from tests.processes import CODE

pytestmark = pytest.mark.timeout(180)
NO_MONEY = {"status": "needs_approval", "paid_minor": 0, "recommendation": "refund"}


def evaluate(folder: Path, **options: Any) -> tuple[int, str]:
    """Exit code (0 when it does not refuse) and what was printed."""
    out = io.StringIO()
    try:
        call_command("evaluate", folder=folder, stdout=out, **options)
    except CommandError as error:
        return error.returncode, f"{out.getvalue()}{error}"
    return 0, out.getvalue()


def row_counts() -> dict[str, int]:
    kept = {Evaluation, Trial}
    return {model._meta.label: model._default_manager.count() for model in apps.get_models() if model not in kept}


@pytest.mark.django_db
def test_a_measuring_is_printed_and_kept_and_nothing_else_is_written(tmp_path: Path) -> None:
    write_scenario(tmp_path)
    write_scenario(tmp_path, kind="others", name="busy", provider={"answers": ["busy"], "alone": True})
    before = row_counts()
    code, printed = evaluate(tmp_path, trials=2, jobs=2)
    assert code == 0
    assert "others/busy: 2 of 2 not as wanted\n    It ended needs_approval; wanted was refunded.\n" in printed
    evaluation = Evaluation.objects.get()
    assert (evaluation.kind, evaluation.status, evaluation.trials) == ("suite", "done", 2)
    assert evaluation.scores["all"]["success"] == 0.5
    assert evaluation.scores["kinds"]["small"]["pass_1"] == 1
    assert evaluation.ended_at is not None
    rows = Trial.objects.values_list("kind", "scenario", "number", "passed")
    assert list(rows) == [
        ("others", "busy", 1, False),
        ("others", "busy", 2, False),
        ("small", "carafe", 1, True),
        ("small", "carafe", 2, True),
    ]
    timelines = Trial.objects.exclude(timeline=[]).values_list("scenario", "number")
    assert list(timelines) == [("busy", 1), ("busy", 2), ("carafe", 1)]
    assert row_counts() == before


@pytest.mark.django_db
def test_money_that_was_wrongly_paid_ends_with_one(tmp_path: Path) -> None:
    write_scenario(tmp_path, wanted=NO_MONEY)
    code, printed = evaluate(tmp_path, no_save=True)
    assert code == 1
    assert printed.endswith("Money was wrongly paid in 1 trials.")
    assert "Wrongly paid (paid!): 1 trials, $34.00." in printed
    assert not Evaluation.objects.exists()


@pytest.mark.django_db
def test_a_failure_without_money_ends_with_zero(tmp_path: Path) -> None:
    write_scenario(tmp_path, wanted=WITH_A_PERSON, request={"reason": "changed_mind"})
    code, _ = evaluate(tmp_path, no_save=True)
    assert code == 0


@pytest.mark.django_db
def test_what_could_not_be_played_at_all_is_no_measuring(tmp_path: Path) -> None:
    write_scenario(tmp_path, shop={"policy": {"limit": 1}})
    code, printed = evaluate(tmp_path)
    assert (code, Evaluation.objects.get().status) == (3, "failed")
    assert "No trial could be played: A policy has no limit" in printed


@pytest.mark.django_db
def test_a_measuring_with_holes_is_kept_and_ends_with_three(tmp_path: Path) -> None:
    write_scenario(tmp_path)
    write_scenario(tmp_path, name="no-such-rule", shop={"policy": {"limit": 1}})
    code, printed = evaluate(tmp_path, only=["small"])
    assert code == 3
    assert printed.endswith("1 of 2 trials could not be played, so this says nothing about all of them.")
    evaluation = Evaluation.objects.get()
    assert (evaluation.status, evaluation.options) == ("done", {"only": ["small"], "folder": tmp_path.name})
    assert evaluation.started_at is not None


@pytest.mark.django_db
def test_a_measuring_that_was_killed_long_ago_is_given_up(tmp_path: Path) -> None:
    write_scenario(tmp_path, shop={"policy": {"limit": 1}})
    now = timezone.now()
    killed = Evaluation.objects.create(kind="suite", status="running", created_at=now - timedelta(days=1, minutes=1))
    other = Evaluation.objects.create(kind="suite", status="running", created_at=now - timedelta(hours=23))
    evaluate(tmp_path)
    killed.refresh_from_db()
    other.refresh_from_db()
    assert (killed.status, killed.trouble, other.status) == ("failed", "It never came to its end.", "running")


@pytest.mark.django_db
def test_json_holds_the_scores_and_the_failed_trials(tmp_path: Path) -> None:
    write_scenario(tmp_path, wanted=WITH_A_PERSON, request={"reason": "changed_mind"})
    _, printed = evaluate(tmp_path, no_save=True, json=True)
    told = json.loads(printed)
    assert told["scores"]["all"]["trials"] == 1
    assert [(played["scenario"], played["passed"]) for played in told["failed"]] == [("carafe", False)]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"provider": "nobody"}, "There is no provider nobody here; known are scripted."),
        ({"model": "other"}, "The scripted model has no other models; choose a provider of the chain."),
        ({"only": ["carafes"]}, "No kind or scenario is called carafes; the kinds are small."),
    ],
)
def test_options_it_cannot_use_end_with_two_and_a_sentence(
    tmp_path: Path, options: dict[str, Any], sentence: str
) -> None:
    write_scenario(tmp_path)
    assert evaluate(tmp_path, no_save=True, **options) == (2, sentence)


@pytest.mark.django_db
def test_a_file_with_a_mistake_ends_with_two(tmp_path: Path) -> None:
    write_scenario(tmp_path, wanted={})
    code, printed = evaluate(tmp_path)
    assert (code, "wanted.status: Field required" in printed) == (2, True)
    assert not Evaluation.objects.exists()


# -- real terminals -----------------------------------------------------------------------------------------------


@pytest.fixture
def shop(tmp_path: Path) -> dict[str, str]:
    """The environment of a migrated shop of its own, whose temporary files lie in `tmp_path` too."""
    (tmp_path / "data").mkdir()
    shutil.copyfile(migrated_template(), tmp_path / "data" / "desk.sqlite3")
    return {
        **os.environ,
        "DATABASE_URL": f"sqlite:///{tmp_path / 'data' / 'desk.sqlite3'}",
        "DATA_DIR": str(tmp_path / "data"),
        "TMPDIR": str(tmp_path),
    }


def manage(shop: dict[str, str], *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "manage.py", *words],
        cwd=CODE,
        env=shop,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.once
@pytest.mark.parametrize("words", [["--trials", "0"], ["--jobs", "many"], ["--only", "nobody"]])
def test_bad_options_end_a_real_process_with_two(shop: dict[str, str], words: list[str], tmp_path: Path) -> None:
    write_scenario(tmp_path / "scenarios")
    with manage(shop, "evaluate", "--folder", str(tmp_path / "scenarios"), *words) as process:
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert words[0].strip("-") in errors or "No kind or scenario is called nobody" in errors


@pytest.mark.once
def test_without_tables_the_results_cannot_be_kept(shop: dict[str, str], tmp_path: Path) -> None:
    write_scenario(tmp_path / "scenarios")
    (tmp_path / "data" / "desk.sqlite3").unlink()
    with manage(shop, "evaluate", "--folder", str(tmp_path / "scenarios")) as process:
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, "run `manage.py migrate` first, or choose --no-save" in errors) == (2, True)


@pytest.mark.once
def test_a_scratch_process_refuses_the_shop_s_own_database(shop: dict[str, str]) -> None:
    with manage(shop, "play_scenarios") as process:
        out, errors = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "")
    assert "Scenarios are played in a scratch database only" in errors


@pytest.mark.once
@pytest.mark.parametrize(
    ("number", "code", "status"),
    [
        (signal.SIGINT, 130, "failed"),
        (signal.SIGTERM, 130, "failed"),
        (signal.SIGKILL, -signal.SIGKILL, "running"),
    ],
)
def test_a_stop_leaves_no_process_and_a_row_that_says_so(
    shop: dict[str, str], tmp_path: Path, number: int, code: int, status: str
) -> None:
    write_scenario(tmp_path / "scenarios")
    words = ["evaluate", "--folder", str(tmp_path / "scenarios"), "--trials", "100", "--jobs", "2"]
    with manage(shop, *words) as process:
        wait_for_count(tmp_path / "refunddesk-scratch-evaluation", 2)
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == code
    wait_for_count(tmp_path / "refunddesk-scratch", 0)
    assert "Traceback" not in errors
    with sqlite3.connect(tmp_path / "data" / "desk.sqlite3") as database:
        rows = database.execute("SELECT status, trouble FROM agent_evaluation").fetchall()
    assert rows == [(status, "Stopped before its end." if status == "failed" else "")]
