from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import call_command
from pytest_django.fixtures import Settings

from refunddesk import pulse
from refunddesk.demo_processes.local_redis import free_port
from refunddesk.doctor.configured import without_password
from tests.processes import RedisServer

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def nobody_else(settings: Settings, tmp_path: Path) -> None:
    settings.PORT = free_port()


def ask_doctor() -> tuple[int, dict[str, tuple[str, str]]]:
    """Exit code, and of each line: about -> (state, words)."""
    out = io.StringIO()
    code = 0
    try:
        call_command("doctor", stdout=out)
    except SystemExit as ended:
        code = int(str(ended.code))
    lines = [line.split(maxsplit=2) for line in out.getvalue().splitlines()]
    return code, {about: (state, words) for state, about, words in lines}


def test_without_a_broker_the_doctor_says_so_and_ends_with_one(settings: Settings) -> None:
    settings.REDIS_URL = f"redis://:hidden@127.0.0.1:{free_port()}/0"

    code, lines = ask_doctor()

    assert code == 1
    assert lines["broker"][0] == "missing"
    assert "REDIS_URL" in lines["broker"][1]
    assert "hidden" not in str(lines)
    assert lines["web"][0] == "missing"
    assert lines["database"][0] == lines["tables"][0] == lines["policy"][0] == lines["photos"][0] == "ok"
    assert lines["model"] == ("note", "no LLM_API_KEY is set: the scripted demo model reviews, and pages say so")


@pytest.mark.worker
def test_with_everything_there_the_doctor_ends_with_zero(real_broker: RedisServer, settings: Settings) -> None:
    settings.DEMO, settings.ALLOWED_HOSTS = False, ["desk.example.com"]
    pulse.give("beat")
    pulse.give("worker")

    code, lines = ask_doctor()

    assert code == 0, lines
    assert lines["worker"][0] == lines["beat"][0] == lines["broker"][0] == "ok"
    assert lines["web"][0] == "note"


def test_the_key_of_a_model_is_never_printed(settings: Settings) -> None:
    settings.LLM_API_KEY = "sk-secret"

    _, lines = ask_doctor()

    assert lines["model"] == ("ok", "openai/gpt-6-luna at https://openrouter.ai/api/v1, with a key")
    assert "sk-secret" not in str(lines)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://127.0.0.1:6379/0", "redis://127.0.0.1:6379/0"),
        ("redis://user:pass@host:1/0", "redis://user:***@host:1/0"),
        ("redis://:pass@host:1/0", "redis://:***@host:1/0"),
    ],
)
def test_passwords_in_addresses_are_hidden(url: str, shown: str) -> None:
    assert without_password(url) == shown
