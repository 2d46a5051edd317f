"""What `/healthz` says of each part, and how soon."""

from __future__ import annotations

import time

import pytest
from django.test import Client

from refunddesk import pulse
from refunddesk.health import ASKED_SECONDS, NOT_KNOWN, SILENT
from tests.processes import DeskPrograms, RedisServer, wait_until

pytestmark = [pytest.mark.worker, pytest.mark.django_db(transaction=True)]
ALL_OK = {"web": "ok", "database": "ok", "broker": "ok", "worker": "ok", "beat": "ok"}


def test_all_parts_are_ok_once_beat_and_the_worker_gave_a_pulse(
    client: Client, real_broker: RedisServer, programs: DeskPrograms
) -> None:
    programs.worker()
    programs.beat()
    wait_until(lambda: client.get("/healthz").status_code == 200, 20, "everything answers")

    answer = client.get("/healthz")

    assert answer.json() == ALL_OK
    assert "no-store" in answer["Cache-Control"]


def test_a_frozen_worker_is_named_although_it_is_connected(
    client: Client, real_broker: RedisServer, programs: DeskPrograms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulse, "STALE_SECONDS", 12)
    worker = programs.worker()
    programs.beat()
    wait_until(lambda: client.get("/healthz").status_code == 200, 20, "everything answers")

    worker.freeze()
    wait_until(lambda: client.get("/healthz").json()["worker"] != "ok", 20, "the worker is missed")

    parts = client.get("/healthz").json()
    assert {part for part, word in parts.items() if word != "ok"} == {"worker"}
    # It takes runs and beat's own tasks here; whichever pulse was the older one is missed first.
    assert "last pulse" in parts["worker"]


def test_a_silent_beat_is_named_and_the_worker_still_counts(
    client: Client, real_broker: RedisServer, programs: DeskPrograms
) -> None:
    programs.worker()

    wait_until(lambda: client.get("/healthz").json()["worker"] == "ok", 10, "the worker was asked by the health check")
    answer = client.get("/healthz")

    assert answer.status_code == 503
    assert answer.json() == {**ALL_OK, "beat": "no pulse yet"}


def test_without_worker_and_beat_both_are_named(client: Client, real_broker: RedisServer) -> None:
    answer = client.get("/healthz")

    assert answer.status_code == 503
    assert answer.json() == {**ALL_OK, "worker": "no pulse yet", "beat": "no pulse yet"}


def test_a_worker_with_all_threads_at_work_is_not_called_broken(client: Client, real_broker: RedisServer) -> None:
    pulse.give("beat")
    pulse.give("full")
    pulse.give("clock")

    assert client.get("/healthz").json() == ALL_OK


def test_a_desk_that_nobody_sweeps_is_not_called_well(client: Client, real_broker: RedisServer) -> None:
    pulse.give("beat")
    pulse.give("worker")

    answer = client.get("/healthz")

    assert answer.status_code == 503
    assert answer.json() == {**ALL_OK, "worker": "the worker for beat's own tasks: no pulse yet"}


@pytest.mark.parametrize("state", ["dead", "frozen"])
def test_a_broker_that_is_away_is_named_within_three_seconds(
    client: Client, real_broker: RedisServer, state: str
) -> None:
    real_broker.kill() if state == "dead" else real_broker.freeze()
    before = time.monotonic()

    answer = client.get("/healthz")

    assert time.monotonic() - before < 3
    assert answer.status_code == 503
    assert answer.json() == {
        "web": "ok",
        "database": "ok",
        "broker": SILENT,
        "worker": NOT_KNOWN,
        "beat": NOT_KNOWN,
    }


def test_the_health_check_asks_a_silent_worker_at_most_once_per_pulse(client: Client, real_broker: RedisServer) -> None:
    before = time.monotonic()
    for _ in range(3):
        client.get("/healthz")

    with real_broker.client() as broker:
        assert broker.llen("refunddesk") == 1
    assert time.monotonic() - before < 3 * (ASKED_SECONDS + 0.5)


def test_only_reading_is_answered(client: Client) -> None:
    assert client.post("/healthz").status_code == 405
