"""Redis is away: people go on, and what they did starts when it is back."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from agent.models import Run
from tests.faults.cases import (
    answer,
    ask,
    carafe_line,
    open_cards,
    refunds_of,
    status_of,
    wait_until_at_rest,
)
from tests.payments.scenarios import Case, numbers
from tests.processes import DeskPrograms, RedisServer, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker, pytest.mark.faults]
SOON = {"SWEEP_SECONDS": "2", "ANNOUNCE_AGAIN_SECONDS": "3"}
AT_MOST_SECONDS = 2.5


@pytest.mark.parametrize("state", ["dead", "frozen"])
def test_requests_and_decisions_are_saved_at_once_and_start_when_the_broker_is_back(
    real_broker: RedisServer, programs: DeskPrograms, state: str
) -> None:
    line, cards = carafe_line(), open_cards(1)
    real_broker.kill() if state == "dead" else real_broker.freeze()

    before = time.monotonic()
    request = ask(line, "carafe-cracked")
    asked = time.monotonic()
    answer(cards, "approve")
    decided = time.monotonic()

    assert asked - before < AT_MOST_SECONDS
    assert decided - asked < AT_MOST_SECONDS
    assert status_of(request) == "submitted"
    assert status_of(cards[0].request) == "working"
    assert Run.objects.filter(status="queued").count() == 2

    real_broker.start_again() if state == "dead" else real_broker.thaw()
    programs.worker(**SOON)
    programs.beat(**SOON)
    wait_until_at_rest([request, cards[0].request], 40)

    assert status_of(request) == status_of(cards[0].request) == "refunded"
    assert refunds_of(request) == refunds_of(cards[0].request) == ["succeeded"]


def test_t16_tasks_flow_again_after_redis_was_restarted_under_an_idle_worker(
    case: Case, real_broker: RedisServer, programs: DeskPrograms, tell: Callable[[str], None]
) -> None:
    [seconds] = numbers(case.expected)
    worker = programs.worker(**SOON)
    beat = programs.beat(**SOON)
    wait_until(lambda: "sweep_runs" in worker.log.read_text(), 20, "beat and the worker work together")

    real_broker.kill()
    time.sleep(3)
    real_broker.start_again()
    before = time.monotonic()
    request = ask(carafe_line(), "carafe-cracked")
    wait_until_at_rest([request], seconds)
    tell(f"at rest {time.monotonic() - before:.1f} seconds after Redis was back")

    assert status_of(request) == "refunded"
    assert worker.running
    assert beat.running


def test_a_run_that_is_under_way_ends_although_redis_is_gone(real_broker: RedisServer, programs: DeskPrograms) -> None:
    programs.worker(SCRIPTED_MODEL_DELAY_SECONDS="1")
    request = ask(carafe_line(), "carafe-cracked")
    wait_until(lambda: Run.objects.filter(request=request, status="running").exists(), 10, "the run has begun")

    real_broker.kill()
    wait_until_at_rest([request], 30)

    assert status_of(request) == "refunded"
    assert refunds_of(request) == ["succeeded"]
