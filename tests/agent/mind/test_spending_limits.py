"""The limits of what a run, a customer and a provider may use, and that a review ends at them."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from pytest_django.fixtures import DjangoAssertNumQueries

from agent.llm.base import Usage
from agent.llm.spending import Spending, spent_before
from agent.llm.token_ledger import count_call
from agent.models import Run, TokenDay
from agent.outcomes import Handover, Reserved
from intake.models import Step
from payments.models import Refund
from tests import openai_server
from tests.agent.mind.cases import begin, make_request
from tests.agent.mind.chains import BUSY, COST, CUT, REFUSED, SCRIPTED, answered, play, provider, skipped
from tests.openai_server import OpenAIServer, completion

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]
each_limit = pytest.mark.parametrize(
    ("limit", "value", "sentence"),
    [
        ("LLM_RUN_TOKENS", 1600, "The review used the 1,600 tokens that one run may use."),
        ("LLM_RUN_COST", Decimal("0.0017"), "The review cost the $0.0017 that one run may cost."),
        (
            "LLM_CUSTOMER_TOKENS_PER_DAY",
            1600,
            "The requests of this customer have used the model's 1,600 tokens of today.",
        ),
    ],
)


def test_over_its_tokens_of_the_day_a_provider_is_passed_over_in_the_middle(
    servers: tuple[OpenAIServer, OpenAIServer], settings: Any
) -> None:
    settings.LLM_CHAIN = (provider("first", servers[0], tokens_per_day=1600), provider("second", servers[1]))
    request = make_request("carafe", "carafe-cracked")
    assert isinstance(play(request), Reserved)
    assert answered(request) == ["first", "first", "second", "second", "second"]
    assert skipped(request)[2] == [("first", "It has used its 1,600 tokens of today.")]
    used = TokenDay.objects.get(provider="first")
    assert used.tokens_in + used.tokens_out == 1680
    TokenDay.objects.update(day=used.day - timedelta(days=1))
    tomorrow = make_request("kettle", "kettle-dented-spout")
    play(tomorrow)
    assert answered(tomorrow)[0] == "first"


@each_limit
def test_a_limit_is_looked_at_before_each_call_and_ends_with_a_person(
    first: OpenAIServer, settings: Any, limit: str, value: Any, sentence: str
) -> None:
    setattr(settings, limit, value)
    request = make_request("carafe", "carafe-cracked")
    result = play(request)
    assert isinstance(result, Handover)
    assert result.recommendation == "manual_review"
    assert len(first.asked) == 2
    assert request.steps.get(kind=Step.Kind.ERROR).detail == sentence
    assert Refund.objects.count() == 0


def test_the_limit_of_one_customer_is_not_that_of_another(first: OpenAIServer, settings: Any) -> None:
    settings.LLM_CUSTOMER_TOKENS_PER_DAY = 1600
    play(make_request("kettle", "kettle-dented-spout"))
    other = make_request("kettle", "kettle-dented-spout")
    play(other)
    assert len(answered(other)) == 2


def test_a_hanging_provider_leaves_time_for_the_next(servers: tuple[OpenAIServer, OpenAIServer], settings: Any) -> None:
    settings.LLM_CHAIN = (provider("first", servers[0], timeout_seconds=0.2), provider("second", servers[1]))
    settings.REVIEW_MAX_SECONDS = 8
    servers[0].always = replace(BUSY, wait_seconds=0.5)
    request = make_request("carafe", "carafe-cracked")
    assert isinstance(play(request), Reserved)
    assert set(answered(request)) == {"second"}
    assert skipped(request)[0] == [("first", "The model's provider did not answer in time.")]
    row = TokenDay.objects.get(provider="first")
    assert row.calls == row.calls_without_tokens == row.calls_without_cost


def test_a_run_ends_at_its_limit_though_the_calls_that_used_it_up_failed(
    first: OpenAIServer, second: OpenAIServer, settings: Any
) -> None:
    settings.LLM_RUN_TOKENS = 60_000
    first.always = REFUSED
    request = make_request("kettle")
    result = play(request)
    assert isinstance(result, Handover)
    assert result.recommendation == "manual_review"
    assert (len(first.asked), len(second.asked)) == (1, 0)
    error = request.steps.get(kind=Step.Kind.ERROR)
    assert error.detail == "The review used the 60,000 tokens that one run may use."
    assert (error.tokens_in, error.tokens_out, error.cost_micro) == (70_000, 0, 70_000)
    assert Run.objects.get().tokens_in == 70_000
    assert Refund.objects.count() == 0


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        ("LLM_RUN_TOKENS", "The review used the 1,600 tokens that one run may use."),
        ("LLM_CUSTOMER_TOKENS_PER_DAY", "The requests of this customer have used the model's 1,600 tokens of today."),
    ],
)
def test_a_cut_answer_is_not_asked_for_again_past_a_limit(
    first: OpenAIServer, second: OpenAIServer, settings: Any, limit: str, sentence: str
) -> None:
    setattr(settings, limit, 1600)
    first.always = CUT
    request = make_request("kettle")
    assert isinstance(play(request), Handover)
    assert (len(first.asked), len(second.asked)) == (1, 0)
    assert request.steps.get(kind=Step.Kind.ERROR).detail == sentence


def test_a_cut_answer_is_not_asked_for_again_past_the_providers_own_limit(
    servers: tuple[OpenAIServer, OpenAIServer], settings: Any
) -> None:
    settings.LLM_CHAIN = (provider("first", servers[0], tokens_per_day=1600), provider("second", servers[1]))
    servers[0].always = CUT
    request = make_request("kettle")
    play(request)
    assert len(servers[0].asked) == 1
    assert skipped(request)[0] == [("first", "It has used its 1,600 tokens of today.")]


def test_a_try_after_a_pause_is_not_made_past_the_customers_limit(
    first: OpenAIServer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.LLM_CUSTOMER_TOKENS_PER_DAY = 1600
    request = make_request("kettle")

    def another_request_meanwhile(seconds: float) -> None:
        if seconds >= 1:
            count_call("first", request.customer_id, Usage(1600, 0))

    monkeypatch.setattr(time, "sleep", another_request_meanwhile)
    first.always = BUSY
    assert isinstance(play(request), Handover)
    assert len(first.asked) == 1


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer says what it used, as in the recorded `usage_missing.json`."""
    monkeypatch.setattr(openai_server, "completion", lambda reply: {**completion(reply), "usage": None})


@pytest.mark.usefixtures("silent")
@each_limit
def test_a_limit_holds_for_a_provider_too_that_tells_no_usage(
    first: OpenAIServer, settings: Any, limit: str, value: Any, sentence: str
) -> None:
    setattr(settings, limit, value)
    request = make_request("carafe", "carafe-cracked")
    assert isinstance(play(request), Handover)
    assert 1 <= len(first.asked) <= 2
    assert request.steps.get(kind=Step.Kind.ERROR).detail == sentence
    run = Run.objects.get()
    assert (run.tokens_in, run.tokens_out, run.cost_micro) == (None, None, None)


@pytest.mark.usefixtures("silent")
def test_a_providers_own_limit_holds_though_it_tells_no_usage(
    servers: tuple[OpenAIServer, OpenAIServer], settings: Any
) -> None:
    settings.LLM_CHAIN = (provider("first", servers[0], tokens_per_day=1600), provider("second", servers[1]))
    request = make_request("kettle", "kettle-dented-spout")
    play(request)
    assert 1 <= len(servers[0].asked) <= 2
    assert answered(request)[-1] == "second"


def test_a_first_try_does_not_ask_what_earlier_ones_used(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    lease = begin(make_request("carafe"))
    with django_assert_num_queries(0):
        assert spent_before(lease) == Spending()


def test_what_an_earlier_try_of_the_run_used_counts(first: OpenAIServer, settings: Any) -> None:
    settings.LLM_RUN_TOKENS = 2_000
    request = make_request("carafe", "carafe-cracked")
    Run.objects.update(tries=1, tokens_in=1_500, tokens_out=100, cost_micro=1_700)
    assert isinstance(play(request), Handover)
    assert len(first.asked) == 1
    run = Run.objects.get()
    assert (run.tries, run.tokens_in, run.tokens_out, run.cost_micro) == (2, 2_300, 140, 1_700 + COST)


def test_what_the_steps_of_an_earlier_try_tell_counts_where_its_sum_is_unknown(
    first: OpenAIServer, settings: Any
) -> None:
    settings.LLM_CHAIN = settings.LLM_CHAIN[:1]
    request = make_request("carafe", "carafe-cracked")
    first.canned += [SCRIPTED, SCRIPTED]
    first.always = BUSY
    play(request)
    Run.objects.update(status=Run.Status.QUEUED, token=None, lease_until=None, tokens_in=None, cost_micro=None)
    first.always = None
    settings.LLM_RUN_TOKENS = 1_700
    asked = len(first.asked)
    assert isinstance(play(request), Handover)
    assert len(first.asked) == asked + 1
    run = Run.objects.get()
    assert (run.tokens_in, run.tokens_out, run.cost_micro) == (None, 120, None)
