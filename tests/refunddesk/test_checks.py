from __future__ import annotations

from pathlib import Path

import pytest
from django.core.checks import run_checks
from pytest_django.fixtures import Settings

from refunddesk.schedule import timetable


def ids() -> list[str]:
    return [str(message.id) for message in run_checks() if str(message.id).startswith("refunddesk.")]


def test_an_installation_as_it_comes_has_nothing_to_say() -> None:
    assert ids() == []


def test_a_timetable_entry_without_its_task_is_named(settings: Settings) -> None:
    settings.CELERY_BEAT_SCHEDULE = {**timetable(15), "odd": {"task": "agent.tasks.nothing", "schedule": 1.0}}
    assert ids() == ["refunddesk.W001"]


@pytest.mark.parametrize(
    ("name", "value"), [("CALL_MAX_SECONDS", 60), ("REVIEW_MAX_SECONDS", 300), ("RUN_MAX_SECONDS", 3600)]
)
def test_time_limits_that_do_not_fit_are_errors(settings: Settings, name: str, value: int) -> None:
    setattr(settings, name, value)
    assert ids() == ["refunddesk.E002"]


def test_a_photo_folder_below_a_file_is_an_error(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings.PHOTO_DIR = tmp_path / "file" / "photos"
    assert ids() == ["refunddesk.E003"]


def test_photos_in_a_bucket_need_no_folder(settings: Settings) -> None:
    settings.PHOTO_BUCKET, settings.PHOTO_DIR = "photos", Path("/proc/nowhere")
    assert ids() == []


def test_a_demo_that_others_can_reach_is_warned_of(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["localhost", "desk.example.com"]
    assert ids() == ["refunddesk.W004"]


def test_production_without_a_host_is_an_error(settings: Settings) -> None:
    settings.DEMO, settings.ALLOWED_HOSTS, settings.SCRIPTED_MODEL = False, [], "never"
    assert ids() == ["refunddesk.E005"]


def test_a_shop_without_a_place_for_returns_is_an_error(settings: Settings) -> None:
    settings.RETURN_ADDRESS = ()
    assert ids() == ["refunddesk.E009"]


@pytest.mark.parametrize(("scripted", "found"), [("last", ["refunddesk.W010"]), ("never", [])])
def test_a_scripted_model_outside_the_demo_is_warned_of(settings: Settings, scripted: str, found: list[str]) -> None:
    settings.DEMO, settings.SCRIPTED_MODEL = False, scripted
    assert ids() == found


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("http://models.example.com/v1", ["refunddesk.W006"]),
        ("http://127.0.0.1:11434/v1", []),
        ("https://models.example.com/v1", []),
    ],
)
def test_a_key_sent_in_the_clear_is_warned_of(settings: Settings, url: str, found: list[str]) -> None:
    settings.LLM_API_KEY, settings.LLM_BASE_URL = "key", url
    assert ids() == found
