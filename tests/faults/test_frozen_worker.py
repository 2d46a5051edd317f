"""A worker that sleeps past its lease has lost it: when it wakes, it writes nothing."""

from __future__ import annotations

import time

import pytest

from agent.models import Run
from intake.models import RefundRequest, Step
from tests.faults.cases import ask, carafe_line, refunds_of, status_of, wait_until_at_rest
from tests.processes import DeskPrograms, RedisServer, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker, pytest.mark.faults]
SHORT = {"RUN_LEASE_SECONDS": "5", "CALL_MAX_SECONDS": "4", "SWEEP_SECONDS": "2", "ANNOUNCE_AGAIN_SECONDS": "3"}


def everything_about(request: RefundRequest) -> tuple[object, ...]:
    request.refresh_from_db()
    steps = list(Step.objects.filter(request=request).order_by("pk").values())
    return request.status, request.rev, steps, list(request.runs.values()), refunds_of(request)


def test_a_worker_that_wakes_after_its_lease_writes_nothing(real_broker: RedisServer, programs: DeskPrograms) -> None:
    sleeper = programs.worker(SCRIPTED_MODEL_DELAY_SECONDS="2", **SHORT)
    request = ask(carafe_line(), "carafe-cracked")
    wait_until(lambda: Step.objects.filter(request=request, kind="tool").exists(), 10, "the review has begun")
    time.sleep(0.3)  # the model thinks, no transaction is open

    sleeper.freeze()
    programs.worker(**SHORT)
    programs.beat(**SHORT)
    wait_until_at_rest([request], 40)
    assert status_of(request) == "refunded"
    before = everything_about(request)

    sleeper.thaw()
    wait_until(lambda: "is not ours any more" in sleeper.log.read_text(), 20, "the sleeper noticed")
    time.sleep(1)

    assert everything_about(request) == before
    assert refunds_of(request) == ["succeeded"]
    assert Run.objects.get(request=request).tries == 2
