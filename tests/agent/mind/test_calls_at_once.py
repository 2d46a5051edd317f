"""What many workers do at the same time: the ledger loses no call, a cool-down is one for all, and who waits holds no
connection."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections
from django.utils import timezone

from agent.llm.base import Message, Reply, ToolSpec, Usage
from agent.llm.model_chain import Link, ModelChain
from agent.llm.provider import Provider
from agent.llm.provider_state import note_failure
from agent.llm.token_ledger import count_call
from agent.loop import review
from agent.models import ProviderState, TokenDay
from tests.agent.mind.cases import begin, make_request
from tests.agent.mind.chains import BUSY, provider, two_servers
from tests.factories import CustomerFactory

pytestmark = pytest.mark.django_db(transaction=True)
AT_ONCE = 12


def together(act: Callable[[], object], times: int = AT_ONCE) -> None:
    """Runs `act` in as many threads, which begin at the same moment."""
    start = threading.Barrier(times)

    def one() -> None:
        start.wait(10)
        try:
            act()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(times) as pool:
        for done in [pool.submit(one) for _ in range(times)]:
            done.result(30)


def test_calls_that_end_together_are_all_counted() -> None:
    customer_id = CustomerFactory().pk

    def count_five() -> None:
        for _ in range(5):
            count_call("groq", customer_id, Usage(100, 7, 9))
        count_call("groq", customer_id, Usage())

    together(count_five)
    row = TokenDay.objects.get()
    assert (row.calls, row.tokens_in, row.tokens_out, row.cost_micro) == (72, 6000, 420, 540)
    assert (row.calls_without_tokens, row.calls_without_cost) == (12, 12)


def test_failures_that_come_together_make_one_rest_and_not_the_longest() -> None:
    one = Provider("groq", "http://groq", "k", "m")
    asked_at = timezone.now()
    together(lambda: note_failure(one, "Busy.", asked_at=asked_at, wait=None))
    state = ProviderState.objects.get()
    assert state.failures == 3
    assert state.left_alone_until is not None
    assert state.left_alone_until - asked_at < timedelta(seconds=60)


def test_what_two_workers_met_the_third_knows(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sleep = time.sleep
    monkeypatch.setattr(time, "sleep", lambda seconds: None if seconds >= 1 else sleep(seconds))
    with two_servers() as (first, second):
        settings.LLM_CHAIN = (provider("first", first), provider("second", second))
        first.always = BUSY
        ProviderState.objects.create(name="first", failures=1)
        requests = [make_request("kettle") for _ in range(2)]
        leases = [begin(request) for request in requests]
        together(lambda: review(leases.pop(), may_refund=True), times=2)
        assert len(first.asked) == 6
        third = make_request("kettle")
        review(begin(third), may_refund=True)
        assert len(first.asked) == 6
    assert third.steps.exclude(provider="second").count() == 0


class Waiting:
    """A model that notes whether the thread that waits for it holds a connection to the database."""

    provider = model = "waiting"

    def __init__(self) -> None:
        self.held: list[bool] = []

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], deadline: float) -> Reply:
        self.held.append(connection.connection is not None)
        return Reply("Hm.")


@pytest.mark.postgres
def test_who_waits_for_a_model_holds_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = Waiting()
    monkeypatch.setattr("agent.loop.reviewing_model", lambda: ModelChain((Link(waiting),)))
    review(begin(make_request("kettle")), may_refund=True)
    assert waiting.held == [False, False]
