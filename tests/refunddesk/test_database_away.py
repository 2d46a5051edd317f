"""The database cannot be reached, or refuses: whoever asked is told to try again, and nobody reads a trace."""

from __future__ import annotations

import logging
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import httpx2 as httpx
import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client

from refunddesk.try_again import OUR_FAULT, SENTENCE
from tests.factories import CustomerFactory
from tests.processes import CODE, DeskPrograms, desk_env

NOBODY_LISTENS = "postgres://nobody@127.0.0.1:1/none"
TOKEN = {"Authorization": f"Token {'a' * 40}"}


@pytest.mark.worker
@pytest.mark.django_db(transaction=True)
def test_people_and_programs_are_told_to_try_again(programs: DeskPrograms, tmp_path: Path) -> None:
    web, address = programs.web(DATABASE_URL=NOBODY_LISTENS)
    cookie = {"Cookie": f"sessionid-{address.rpartition(':')[2]}={'a' * 32}"}

    program = httpx.get(f"{address}/api/v1/orders", headers=TOKEN)
    pages = [httpx.get(f"{address}{path}", headers=cookie) for path in ("/?page=2", "/desk/", "/nowhere")]
    token = httpx.post(f"{address}/api/v1/token", json={"email": "a@example.com", "password": "b"})

    assert program.json() == token.json() == {"error": "try_again", "message": SENTENCE}
    for answer in (program, token, *pages):
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "60")
        assert answer.headers["Cache-Control"] == "no-store"
    for page in pages:
        assert "We cannot reach our records right now" in page.text
        assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert 'href="/?page=2">Try again</a>' in pages[0].text
    log = web.log.read_text()
    assert log.count("the database could not be used") == 5
    assert "Traceback" not in log


@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_a_database_that_is_locked_is_tried_again_too(caplog: pytest.LogCaptureFixture) -> None:
    customer = CustomerFactory()
    customer.set_password("pourhaven-right")
    customer.save()
    browser = Client(raise_request_exception=False)
    with closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)) as other:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA busy_timeout = 0")
        other.execute("BEGIN IMMEDIATE")
        with caplog.at_level(logging.WARNING):
            answer = browser.post("/sign-in", {"username": customer.username, "password": "pourhaven-right"})
        other.execute("ROLLBACK")

    assert answer.status_code == 503
    assert "go back in your browser and send it again" in answer.content.decode()
    lines = [record for record in caplog.records if record.name == "django.request"]
    assert [(line.getMessage(), line.exc_info) for line in lines] == [
        ("the database could not be used: /sign-in: database is locked", None)
    ]
    assert not Session.objects.exists()


@pytest.mark.once
@pytest.mark.parametrize("command", ["verify", "reconcile", "seed", "reset"])
def test_a_command_ends_with_one_sentence(command: str) -> None:
    ended = manage(command)
    assert ended.returncode == 1
    last = ended.stderr.splitlines()[-1]
    assert "Traceback" not in ended.stderr
    assert last.startswith("The database could not be used: connection")
    assert last.endswith("(`manage.py doctor` says what answers.)")


@pytest.mark.once
def test_a_command_shows_its_trace_to_whoever_asks_for_it() -> None:
    ended = manage("verify", "--traceback")
    assert ended.returncode == 1
    assert ended.stderr.startswith("Traceback")


def manage(*words: str) -> subprocess.CompletedProcess[str]:
    env = {**desk_env("memory://"), "DATABASE_URL": NOBODY_LISTENS}
    return subprocess.run(
        [sys.executable, "manage.py", *words], cwd=CODE, env=env, capture_output=True, text=True, timeout=60
    )


@pytest.mark.django_db
def test_an_error_nobody_expected_is_told_to_programs_as_json_and_tells_nothing_internal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def breaks(*args: object, **kwargs: object) -> None:
        raise RuntimeError("internal-words")

    monkeypatch.setattr("intake.api.orders_of", breaks)
    program = Client(raise_request_exception=False)
    program.force_login(CustomerFactory())
    answer = program.get("/api/v1/orders")
    assert (answer.status_code, answer.json()) == (500, {"error": "server_error", "message": OUR_FAULT})
