"""A request that waits for a person is a row and nothing else: no process, no message, no connection."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone

from agent.models import Run
from intake.models import RefundRequest
from payments.models import OrderLine
from refunddesk.demo_processes.child import Child
from tests.factories import OrderFactory, PolicyFactory
from tests.processes import DeskPrograms, RedisServer, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker, pytest.mark.faults]
WAITING = 1000
SOON = {"SWEEP_SECONDS": "1"}


@dataclass(frozen=True)
class Load:
    """The least of a few looks: what is held all the time."""

    threads: int
    queue_length: int
    redis_clients: int
    database_clients: int


def look_at(worker: Child, beat: Child, redis: RedisServer) -> Load:
    looks = []
    for _ in range(20):
        with redis.client() as client:
            looks.append(
                (
                    sum(_threads(program.process.pid) for program in (worker, beat)),
                    int(client.llen("refunddesk")) + int(client.llen("refunddesk-clock")),
                    len(client.client_list()),
                    _database_clients(),
                )
            )
        time.sleep(0.1)
    return Load(*(min(column) for column in zip(*looks, strict=True)))


def test_a_thousand_waiting_requests_hold_nothing(
    real_broker: RedisServer, programs: DeskPrograms, tell: Callable[[str], None]
) -> None:
    # One thread for tasks: a pool grows with what happens to overlap, which says nothing about waiting.
    worker, beat = programs.worker(WORKER_THREADS="1", **SOON), programs.beat(**SOON)
    wait_until(lambda: worker.log.read_text().count("sweep_runs") > 6, 20, "a few sweeps without anything")
    empty = look_at(worker, beat, real_broker)

    make_waiting(WAITING)
    swept = worker.log.read_text().count("sweep_runs")
    wait_until(lambda: worker.log.read_text().count("sweep_runs") > swept + 6, 20, "a few sweeps over all of them")
    full = look_at(worker, beat, real_broker)

    tell(f"without any {empty}, with {WAITING} {full}")
    assert full == empty
    assert full.queue_length == 0
    assert Run.objects.filter(status="queued").count() == WAITING


def make_waiting(count: int) -> None:
    """Requests whose question is out, each with its run for the case that nobody answers."""
    order, policy, later = OrderFactory(), PolicyFactory(), timezone.now() + timedelta(days=14)
    lines = OrderLine.objects.bulk_create(
        OrderLine(order=order, sku=f"W-{number}", name="Carafe", quantity=1, unit_price_minor=3400, paid_minor=3400)
        for number in range(count)
    )
    requests = RefundRequest.objects.bulk_create(
        RefundRequest(
            line=line,
            customer=order.customer,
            policy=policy,
            units=1,
            amount_minor=3400,
            currency="USD",
            reason="damaged",
            details="It arrived broken.",
            source="api",
            status="needs_customer",
        )
        for line in lines
    )
    Run.objects.bulk_create(
        Run(request=request, trigger="late", key=f"late:{request.pk}", source_id="0", due_at=later)
        for request in requests
    )


def _threads(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def _database_clients() -> int:
    if connection.vendor != "postgresql":
        return 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        return int(cursor.fetchone()[0])
