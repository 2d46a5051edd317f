"""kill -9 in the middle of the work: a new worker brings every request to rest, and nobody is paid twice."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from agent.models import Run
from intake.models import Step
from payments.models import Refund
from refunddesk.demo_processes.child import Child
from tests.faults.cases import (
    answer,
    ask,
    carafe_line,
    mugs_line,
    open_cards,
    refunds_of,
    status_of,
    wait_until_at_rest,
)
from tests.payments.scenarios import Case, how_many
from tests.processes import DeskPrograms, RedisServer, wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.worker,
    pytest.mark.faults,
    pytest.mark.timeout(240),
]
AT_REST_SECONDS = 90


def kill(worker: Child) -> None:
    worker.send(signal.SIGKILL)
    worker.process.wait()


def test_t19_reviews_and_declines_go_on_in_another_worker(
    case: Case, real_broker: RedisServer, programs: DeskPrograms, tell: Callable[[str], None]
) -> None:
    refunds = 1 + how_many(case.expected, "second refund")
    worker = programs.worker(SCRIPTED_MODEL_DELAY_SECONDS="2")
    programs.beat()
    reviews = [ask(carafe_line(), "carafe-cracked"), ask(mugs_line(), "mugs-one-broken")]
    cards = open_cards(2)
    answer(cards, "decline", "The photo shows another item.")
    declines = [card.request for card in cards]
    wait_until(lambda: Run.objects.filter(status="running").count() == 4, 10, "all four are being worked on")
    wait_until(lambda: Step.objects.filter(request=reviews[0], kind="tool").exists(), 10, "the review has begun")

    kill(worker)
    assert Run.objects.filter(status="running").count() == 4
    programs.worker()
    took = wait_until_at_rest([*reviews, *declines], AT_REST_SECONDS)
    tell(f"at rest {took:.0f} seconds after the new worker was ready (lease of 60 seconds, sweep every 15)")

    assert [status_of(request) for request in reviews] == ["refunded", "refunded"]
    assert [refunds_of(request) for request in reviews] == [["succeeded"] * refunds] * 2
    assert [status_of(request) for request in declines] == ["declined", "declined"]
    assert [refunds_of(request) for request in declines] == [[], []]
    for request in declines:
        assert Step.objects.filter(request=request, for_customer=True, message_key__gt="").count() == 1


def test_approved_refunds_are_paid_exactly_once(real_broker: RedisServer, programs: DeskPrograms) -> None:
    short = {"RUN_LEASE_SECONDS": "8", "CALL_MAX_SECONDS": "6", "SWEEP_SECONDS": "2", "ANNOUNCE_AGAIN_SECONDS": "4"}
    worker = programs.worker(**short)
    programs.beat(**short)
    cards = open_cards(20)
    answer(cards[:10], "approve")
    wait_until(lambda: Refund.objects.exists(), 10, "the first refund is reserved")
    kill(worker)
    answer(cards[10:], "approve")

    second = programs.worker(**short)
    wait_until(lambda: Refund.objects.filter(status="succeeded").count() >= 11, 30, "the new worker goes on")
    kill(second)
    programs.worker(**short)
    requests = [card.request for card in cards]
    wait_until_at_rest(requests, 60)

    assert {status_of(request) for request in requests} == {"refunded"}
    assert [refunds_of(request) for request in requests] == [["succeeded"]] * 20
