"""`GET /healthz`: whether each part really answers, within three seconds whatever hangs."""

from __future__ import annotations

import logging
import time
from concurrent.futures import Future
from typing import TypeVar

import redis
from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from refunddesk import pulse
from refunddesk.probe import Probe
from refunddesk.tasks import ask_workers

logger = logging.getLogger(__name__)
Answer = TypeVar("Answer")

OK = "ok"
SILENT = "does not answer"
NOT_KNOWN = "not known while the broker does not answer"
ANSWER_SECONDS = 2.5
ASKED_SECONDS = 1.0


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    parts = ask_all()
    return JsonResponse(parts, status=200 if set(parts.values()) == {OK} else 503)


def ask_all() -> dict[str, str]:
    """Part -> "ok" or what is wrong with it, within ANSWER_SECONDS."""
    deadline = time.monotonic() + ANSWER_SECONDS
    database, broker = _database.start(), _broker.start()
    silent = {"broker": SILENT, "worker": NOT_KNOWN, "beat": NOT_KNOWN}
    return {
        "web": OK,
        "database": _answer_or(database, deadline, SILENT),
        **_answer_or(broker, deadline, silent),
    }


def _answer_or(asked: Future[Answer], deadline: float, otherwise: Answer) -> Answer:
    try:
        return asked.result(timeout=max(0.0, deadline - time.monotonic()))
    except Exception as error:
        logger.info("health: %s: %r", otherwise, error)
        return otherwise


def _ask_database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM django_migrations LIMIT 1")
        return OK
    finally:
        connection.close()


def _ask_broker() -> dict[str, str]:
    with pulse.connect() as client:
        client.ping()
        beat = pulse.age_seconds(client, "beat")
        worker = pulse.age_seconds(client, "worker")
        if not pulse.fresh(beat) and not pulse.fresh(worker):
            worker = _ask_workers(client)
        return {
            "broker": OK,
            "worker": _workers(client, worker),
            "beat": OK if pulse.fresh(beat) else _last_pulse(beat),
        }


def _workers(client: redis.Redis, worker: float | None) -> str:
    """Both workers in one word: runs need the one that works them off and the one that sweeps."""
    if not pulse.fresh(worker) and not pulse.fresh(pulse.age_seconds(client, "full")):
        return _last_pulse(worker)
    clock = pulse.age_seconds(client, "clock")
    return OK if pulse.fresh(clock) else f"{pulse.CLOCK_SILENT}: {_last_pulse(clock)}"


def _ask_workers(client: redis.Redis) -> float | None:
    """Beat is silent, which says nothing of the workers: sends each a pulse task and gives them a moment."""
    if pulse.may_ask_worker(client):
        ask_workers("health check")
    until = time.monotonic() + ASKED_SECONDS
    while time.monotonic() < until and not _both_fresh(client):
        time.sleep(0.05)
    return pulse.age_seconds(client, "worker")


def _both_fresh(client: redis.Redis) -> bool:
    return all(pulse.fresh(pulse.age_seconds(client, part)) for part in ("worker", "clock"))


def _last_pulse(age: float | None) -> str:
    return "no pulse yet" if age is None else f"last pulse {age:.0f} seconds ago"


_database: Probe[str] = Probe("database", _ask_database)
_broker: Probe[dict[str, str]] = Probe("broker", _ask_broker)
