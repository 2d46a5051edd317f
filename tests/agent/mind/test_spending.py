"""What the calls of a review used and cost, where it is written down, and the limits it ends at."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from agent.llm.base import Usage
from agent.llm.payload import about_tokens
from agent.llm.token_ledger import count_call
from agent.models import Run, TokenDay
from agent.outcomes import Handover, Reserved
from agent.word_decline import word_decline
from intake.models import Step
from payments.models import Refund
from tests import openai_server
from tests.agent.mind.cases import begin, make_request
from tests.agent.mind.chains import BUSY, COST, SCRIPTED, answered, play, provider, skipped
from tests.openai_server import Canned, OpenAIServer, completion

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


def test_each_step_and_the_run_know_tokens_cost_and_time(first: OpenAIServer) -> None:
    request = make_request("carafe", "carafe-cracked")
    play(request)
    steps = list(request.steps.filter(kind=Step.Kind.TOOL).values_list("tool", "tokens_in", "tokens_out", "cost_micro"))
    assert steps == [
        ("get_order", 800, 40, COST),
        ("get_refund_history", 800, 40, COST),
        ("read_policy", 800, 40, COST),
        ("inspect_photo", 1600, 80, 2 * COST),
        ("issue_refund", 800, 40, COST),
    ]
    assert all(step.duration_ms > 0 for step in request.steps.filter(kind=Step.Kind.TOOL))  # type: ignore[operator]
    run = Run.objects.get()
    assert (run.tokens_in, run.tokens_out, run.cost_micro) == (4800, 240, 6 * COST)


def test_a_cost_nobody_knows_is_null_and_never_nothing(
    servers: tuple[OpenAIServer, OpenAIServer], settings: Any
) -> None:
    settings.LLM_CHAIN = (provider("first", servers[0]), provider("second", servers[1], price_out=None))
    servers[0].canned.append(SCRIPTED)
    servers[0].always = BUSY
    request = make_request("carafe", "carafe-cracked")
    play(request)
    costs = list(request.steps.filter(kind=Step.Kind.TOOL).values_list("cost_micro", flat=True))
    assert costs == [COST, None, None, None, None]
    assert Run.objects.get().cost_micro is None
    second = TokenDay.objects.get(provider="second")
    assert (second.calls, second.cost_micro, second.calls_without_cost) == (5, 0, 5)
    assert second.tokens_in == 4000


def test_every_call_is_counted_for_its_customer_and_day(first: OpenAIServer, second: OpenAIServer) -> None:
    first.canned += [SCRIPTED, BUSY]
    request = make_request("carafe", "carafe-cracked")
    play(request)
    row = TokenDay.objects.get()
    assert (row.provider, row.customer_id) == ("first", request.customer_id)
    assert (row.calls, row.tokens_in, row.tokens_out, row.cost_micro) == (7, 4800, 240, 6 * COST)
    assert (row.calls_without_tokens, row.calls_without_cost) == (0, 0)


def test_a_provider_that_does_not_say_its_tokens_is_counted_as_such(first: OpenAIServer) -> None:
    message = {"content": "We cannot refund it."}
    first.canned.append(Canned({"choices": [{"message": message, "finish_reason": "stop"}]}))
    request = make_request("dripper", "dripper-no-damage")
    word_decline(begin(request), request_id=request.pk, note="It is whole.")
    row = TokenDay.objects.get()
    assert (row.calls, row.tokens_out, row.calls_without_tokens, row.calls_without_cost) == (1, 0, 1, 1)
    assert row.tokens_in == about_tokens(first.asked[0].body["messages"], []) > 100
    assert Run.objects.get().tokens_in is None
    assert Run.objects.get().cost_micro is None


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


USED = {"prompt_tokens": 70_000, "completion_tokens": 0}
CUT = Canned({"choices": [{"message": {"content": ""}, "finish_reason": "length"}], "usage": USED})
REFUSED = Canned({"choices": [{"message": {"refusal": "No."}, "finish_reason": "stop"}], "usage": USED})


def test_what_was_cut_off_at_one_provider_counts_with_the_answer_of_the_next(
    first: OpenAIServer, second: OpenAIServer
) -> None:
    first.always = CUT
    request = make_request("kettle")
    play(request)
    steps = list(request.steps.values_list("tokens_in", "tokens_out", "cost_micro"))
    assert steps[0] == (140_800, 40, 140_880)
    run, rows = Run.objects.get(), TokenDay.objects.all()
    assert run.tokens_in == sum(row.tokens_in for row in rows)
    assert run.cost_micro == sum(row.cost_micro for row in rows)
    assert rows.get(provider="first").calls == 2


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


def test_a_time_out_before_the_answer_leaves_the_sum_unknown(
    servers: tuple[OpenAIServer, OpenAIServer], settings: Any
) -> None:
    settings.LLM_CHAIN = (provider("first", servers[0], timeout_seconds=0.2), provider("second", servers[1]))
    servers[0].canned.append(replace(BUSY, wait_seconds=0.5))
    request = make_request("kettle")
    play(request)
    step = request.steps.all()[0]
    assert (step.provider, step.tokens_in, step.cost_micro) == ("first", None, None)
    assert Run.objects.get().cost_micro is None


def test_tokens_of_a_look_at_the_pictures_that_failed_stand_in_its_step_and_in_the_run(
    first: OpenAIServer, second: OpenAIServer
) -> None:
    first.canned += [SCRIPTED] * 4
    first.always = second.always = REFUSED
    request = make_request("kettle", "kettle-dented-spout")
    result = play(request)
    assert isinstance(result, Handover)
    look, error = request.steps.get(tool="inspect_photo"), request.steps.get(kind=Step.Kind.ERROR)
    assert look.tokens_in == 800 + 140_000
    assert error.tokens_in == 0
    assert Run.objects.get().tokens_in == 4 * 800 + 140_000 == sum(row.tokens_in for row in TokenDay.objects.all())


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


def test_a_message_to_a_customer_that_no_model_could_write_is_paid_for_all_the_same(
    first: OpenAIServer, second: OpenAIServer
) -> None:
    first.always = second.always = REFUSED
    request = make_request("dripper", "dripper-no-damage")
    word_decline(begin(request), request_id=request.pk, note="It is whole.")
    run = Run.objects.get()
    assert (run.provider, run.tokens_in, run.tokens_out, run.cost_micro) == ("", 140_000, 0, 140_000)


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


def test_a_picture_is_not_guessed_by_its_letters() -> None:
    url = {"url": "data:image/jpeg;base64," + "x" * 1_000_000}
    parts = [{"type": "text", "text": "x" * 400}, {"type": "image_url", "image_url": url}]
    assert about_tokens([{"role": "user", "content": parts}], []) == 1_100


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


def test_a_decline_that_is_worded_again_costs_both_tries(first: OpenAIServer) -> None:
    request = make_request("dripper", "dripper-no-damage")
    Run.objects.update(tries=1, tokens_in=70, tokens_out=30, cost_micro=130)
    word_decline(begin(request), request_id=request.pk, note="It is whole.")
    run = Run.objects.get()
    assert (run.tokens_in, run.tokens_out, run.cost_micro) == (870, 70, 130 + COST)
