"""The database goes down in the middle of a run, or a process falls asleep inside a transaction."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone
from psycopg import sql

from agent.models import Run
from agent.sweep import sweep
from agent.tasks import work
from intake.models import RefundRequest
from refunddesk.demo_shop.people import PRIYA
from refunddesk.demo_shop.pictures import photo_file
from refunddesk.tour.door import Door
from tests.faults.cases import ask, carafe_line, refunds_of, status_of
from tests.faults.crash.dying_worker import dying_worker
from tests.processes import wait_until
from tests.whole_desk import new_database, whole_desk

FREED_WITHIN_SECONDS = 25
SHORT = {"RUN_LEASE_SECONDS": "8", "CALL_MAX_SECONDS": "6", "SWEEP_SECONDS": "2", "ANNOUNCE_AGAIN_SECONDS": "4"}


@pytest.mark.django_db(transaction=True)
@pytest.mark.postgres
@pytest.mark.faults
def test_a_process_asleep_inside_a_transaction_loses_its_rows_to_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tell: Callable[[str], None]
) -> None:
    monkeypatch.setattr("agent.announce.ring", lambda run_id: True)
    request = ask(carafe_line(), "carafe-cracked")
    run = Run.objects.get(request=request)
    with dying_worker(tmp_path / "worker.log") as worker:
        sleeper = worker.work_until(run.pk, frozen="before transaction 4")
        before = time.monotonic()
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '40s'")
        Run.objects.filter(pk=run.pk).update(lease_until=timezone.now())
        RefundRequest.objects.filter(pk=request.pk).update(details="It arrived broken, I said.")
        freed = time.monotonic() - before
        sweep()
        work(str(run.pk))
        rested = (status_of(request), refunds_of(request), request.steps.count())
        exit_code = worker.wake(sleeper)

    tell(f"its rows were free after {freed:.1f} seconds (idle_in_transaction_session_timeout of 15)")
    assert 1 < freed < FREED_WITHIN_SECONDS
    assert rested[:2] == ("refunded", ["succeeded"])
    assert (status_of(request), refunds_of(request), request.steps.count()) == rested
    assert exit_code == 0
    assert list(Run.objects.filter(request=request).values_list("status", "tries")) == [("done", 2)]


@pytest.mark.once
@pytest.mark.worker
@pytest.mark.faults
@pytest.mark.timeout(300)
def test_a_run_goes_on_after_postgresql_was_restarted_under_it(
    postgres_url: str, tmp_path: Path, tell: Callable[[str], None]
) -> None:
    database = new_database(postgres_url, "restarted")
    keep_commits_through_a_crash(database)
    slow = {**SHORT, "SCRIPTED_MODEL_DELAY_SECONDS": "1"}
    with whole_desk(tmp_path, database, slow) as desk, Door(desk.address, settings.DEMO_PASSWORD) as door:
        photo = door.upload(PRIYA, photo_file("carafe-cracked"))
        order, sku = _unasked_carafe(door)
        body = {"order": order, "sku": sku, "reason": "damaged", "details": "It arrived broken.", "photos": [photo]}
        request_id = door.post(PRIYA, "requests", body)["id"]
        wait_until(lambda: _runs(database, request_id) == ["running"], 20, "the run has begun")
        before = time.monotonic()
        crash_all_connections(database)
        wait_until(lambda: _status(database, request_id) == "refunded", 90, "the request is refunded")
        took = time.monotonic() - before
        status, _ = door.health()
        refunds = _rows(database, "SELECT status FROM payments_refund WHERE request_uuid = %s", request_id)

    tell(f"refunded {took:.1f} seconds after PostgreSQL went down (lease of 8 seconds)")
    assert refunds == ["succeeded"]
    assert status == 200


def keep_commits_through_a_crash(database: str) -> None:
    """As in production; the tests' server else answers a commit before it is written, to be quick."""
    with psycopg.connect(database, autocommit=True) as server:
        name = sql.Identifier(server.info.dbname)
        server.execute(sql.SQL("ALTER DATABASE {} SET synchronous_commit = on").format(name))


def crash_all_connections(database: str) -> None:
    """Kills one server process, whereupon PostgreSQL throws everybody out and recovers as after a crash."""
    with psycopg.connect(database, autocommit=True) as witness:
        with psycopg.connect(database, autocommit=True) as server:
            [pid] = server.execute("SELECT pg_backend_pid()").fetchone() or [0]
            os.kill(pid, signal.SIGKILL)
        # It still answers for a moment after the kill; that answer says nothing about the recovery.
        wait_until(lambda: _was_thrown_out(witness), 30, "PostgreSQL throws everybody out")
    wait_until(lambda: _answers(database), 30, "PostgreSQL answers again")


def _unasked_carafe(door: Door) -> tuple[str, str]:
    for order in door.get(PRIYA, "orders"):
        for line in order["lines"]:
            if line["sku"] == "CAR-600" and line["refundable_units"]:
                return order["number"], line["sku"]
    raise AssertionError("Priya has no carafe to ask for")


def _was_thrown_out(witness: psycopg.Connection[Any]) -> bool:
    try:
        witness.execute("SELECT 1")
    except psycopg.OperationalError:
        return True
    return False


def _answers(database: str) -> bool:
    try:
        psycopg.connect(database, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def _status(database: str, request_id: str) -> str:
    return _rows(database, "SELECT status FROM intake_refundrequest WHERE uuid = %s", request_id)[0]


def _runs(database: str, request_id: str) -> list[str]:
    runs = "SELECT r.status FROM agent_run r JOIN intake_refundrequest q ON q.id = r.request_id WHERE q.uuid = %s"
    return _rows(database, runs, request_id)


def _rows(database: str, query: str, request_id: str) -> list[str]:
    with psycopg.connect(database) as server:
        return [str(row[0]) for row in server.execute(query.encode(), [request_id]).fetchall()]
