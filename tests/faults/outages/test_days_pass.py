"""Two weeks of waiting, with real programs and moved clocks: each check runs once, and nothing waits in the broker."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from agent.models import Run
from intake.models import RefundRequest, Return
from intake.shop_clock import deadline
from tests.factories import RequestFactory
from tests.faults.cases import status_of
from tests.faults.races.together import told
from tests.payments.scenarios import Case, how_often, numbers
from tests.processes import DeskPrograms, RedisServer, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker, pytest.mark.faults]
SOON = {"SWEEP_SECONDS": "1", "ANNOUNCE_AGAIN_SECONDS": "2"}
BROKER_KEYS = ("refunddesk", "refunddesk-clock", "unacked", "unacked_index")


def awaiting_return() -> RefundRequest:
    request = RequestFactory(status="awaiting_return")
    request.runs.update(status="done")
    in_a_week = deadline(timezone.now(), timedelta(days=7))
    Return.objects.create(request=request, code="RMA-ABCDEF", amount_minor=3400, ship_by=in_a_week, check_at=in_a_week)
    return request


def days_pass(request: RefundRequest, days: int) -> None:
    """The clock moves to the end of that day: what was due by then is due now."""
    now = timezone.now()
    span = deadline(now, timedelta(days=days)) - now
    for run in Run.objects.filter(request=request, status="queued"):
        Run.objects.filter(pk=run.pk).update(due_at=run.due_at - span)


def checks(request: RefundRequest) -> list[tuple[str, int]]:
    runs = Run.objects.filter(request=request, trigger="check").order_by("created_at")
    return list(runs.values_list("status", "tries"))


def test_t11_each_check_of_a_return_runs_once_and_none_waits_in_the_broker(
    case: Case, real_broker: RedisServer, programs: DeskPrograms
) -> None:
    _, first, second = numbers(case["say"])
    times = how_often(case.expected, "exactly")
    assert numbers(case.expected) == [second]
    worker, request = programs.worker(**SOON), awaiting_return()
    programs.beat(**SOON)
    swept = worker.log.read_text().count("sweep_runs")
    wait_until(lambda: worker.log.read_text().count("sweep_runs") > swept + 4, 30, "some sweeps")
    assert waiting_in(real_broker) == 0
    assert checks(request) == [("queued", 0)]

    days_pass(request, first)
    wait_until(lambda: checks(request) == [("done", times), ("queued", 0)], 30, "the first check")
    assert (status_of(request), told(request)) == ("awaiting_return", ["return_reminder"])
    days_pass(request, second - first)
    wait_until(lambda: checks(request) == [("done", times)] * 2, 30, "the second check")
    wait_until(lambda: waiting_in(real_broker) == 0, 10, "the broker is empty")
    assert (status_of(request), told(request)) == ("closed", ["return_reminder", "closed"])


def test_t12_after_two_weeks_without_workers_the_reminder_comes_first_and_the_end_a_full_delay_later(
    case: Case, real_broker: RedisServer, programs: DeskPrograms
) -> None:
    down, up = numbers(case["say"])
    first, second = how_often(case.expected, "check 1 runs"), how_often(case.expected, "and runs")
    request = awaiting_return()
    days_pass(request, down)
    assert not Run.objects.filter(request=request, status="queued", due_at__lte=timezone.now()).exists()
    days_pass(request, up - down)
    programs.worker(**SOON)
    programs.beat(**SOON)
    wait_until(lambda: checks(request) == [("done", first), ("queued", 0)], 30, "the first check")
    next_check = Run.objects.get(request=request, status="queued")
    reminded_at = Return.objects.values_list("reminded_at", flat=True).get(request=request)
    assert reminded_at is not None
    assert next_check.due_at == deadline(reminded_at, timedelta(days=7))
    assert (status_of(request), told(request)) == ("awaiting_return", ["return_reminder"])

    days_pass(request, 7)
    wait_until(lambda: checks(request) == [("done", first), ("done", second)], 30, "the second check")
    assert (status_of(request), told(request)) == ("closed", ["return_reminder", "closed"])
    assert Return.objects.get(request=request).status == "closed"


def waiting_in(redis: RedisServer) -> int:
    with redis.client() as client:
        kinds = {"list": client.llen, "hash": client.hlen, "zset": client.zcard}
        return sum(int(kinds[kind](name)) for name in BROKER_KEYS if (kind := client.type(name).decode()) in kinds)
