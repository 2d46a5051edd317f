"""A review with a chain of providers, over HTTP: who is asked, who is passed over, and what is written down."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from agent.llm import openai_chat
from agent.loop import review
from agent.models import ProviderState, Run, TokenDay
from agent.outcomes import Handover, Reserved, ReviewResult
from agent.word_decline import template, word_decline
from intake.models import RefundRequest, Step
from payments.models import Refund
from tests.agent.mind.cases import begin, make_request
from tests.agent.mind.chains import BUSY, NO_KEY, SCRIPTED, provider, two_servers
from tests.openai_server import Canned, OpenAIServer

pytestmark = pytest.mark.django_db
BUSY_SENTENCE = "The model's provider is busy or out of order (status 503)."
KEY_SENTENCE = "The model's provider does not accept the key."
NOT_AGAIN = "It failed earlier in this review."
# The scripted model behind a server answers each call with 800 tokens in and 40 out: 880 millionths of a dollar.
COST = 880


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_chat, "_features", {})
    sleep = time.sleep
    monkeypatch.setattr(time, "sleep", lambda seconds: None if seconds >= 1 else sleep(seconds))


@pytest.fixture
def servers() -> Iterator[tuple[OpenAIServer, OpenAIServer]]:
    with two_servers() as both:
        yield both


@pytest.fixture
def first(servers: tuple[OpenAIServer, OpenAIServer], settings: Any) -> OpenAIServer:
    settings.LLM_CHAIN = (provider("first", servers[0]), provider("second", servers[1]))
    settings.SCRIPTED_MODEL = "never"
    return servers[0]


@pytest.fixture
def second(first: OpenAIServer, servers: tuple[OpenAIServer, OpenAIServer]) -> OpenAIServer:
    return servers[1]


def play(request: RefundRequest) -> ReviewResult:
    return review(begin(request), may_refund=True)


def answered(request: RefundRequest) -> list[str]:
    return list(request.steps.filter(kind=Step.Kind.TOOL).values_list("provider", flat=True))


def skipped(request: RefundRequest) -> list[list[tuple[str, str]]]:
    steps = request.steps.filter(kind=Step.Kind.TOOL)
    return [[(one["provider"], one["why"]) for one in step.skipped] for step in steps]


def test_the_first_that_works_is_asked_and_nobody_else(first: OpenAIServer, second: OpenAIServer) -> None:
    request = make_request("carafe", "carafe-cracked")
    assert isinstance(play(request), Reserved)
    assert answered(request) == ["first"] * 5
    assert skipped(request) == [[]] * 5
    assert (len(first.asked), second.asked) == (6, [])


def test_the_second_finishes_what_the_first_began(first: OpenAIServer, second: OpenAIServer) -> None:
    first.canned += [SCRIPTED, SCRIPTED]
    first.always = BUSY
    request = make_request("carafe", "carafe-cracked")
    assert isinstance(play(request), Reserved)
    assert answered(request) == ["first", "first", "second", "second", "second"]
    assert skipped(request)[2] == [("first", BUSY_SENTENCE)]
    assert skipped(request)[4] == [("first", NOT_AGAIN)]
    assert len(first.asked) == 2 + 3 + 1 * 3  # the look at the photo is a conversation of its own
    told = second.asked[0].body["messages"]
    assert [message["role"] for message in told] == ["system", "user", "assistant", "tool", "assistant", "tool"]
    assert told == first.asked[2].body["messages"]
    run = Run.objects.get()
    assert (run.provider, run.model) == ("second", "scripted/model-1")


def test_what_a_model_thought_goes_back_to_its_own_provider_only(first: OpenAIServer, second: OpenAIServer) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "get_order", "arguments": "{}"}}
    thought = {"role": "assistant", "tool_calls": [call], "reasoning_details": [{"text": "Look it up."}]}
    first.canned += [
        Canned({"choices": [{"message": thought, "finish_reason": "tool_calls"}]}),
        Canned({"error": {"message": "reasoning_details must be passed back"}}, status=400),
    ]
    first.always = BUSY
    second.canned.append(Canned({"error": {"message": "reasoning_details must be passed back"}}, status=400))
    play(make_request("carafe", "carafe-cracked"))
    assert "reasoning_details" in first.asked[2].body["messages"][2]
    assert len(second.asked) > 1
    for asked in second.asked:
        assert all("reasoning_details" not in message for message in asked.body["messages"])
    for asked in first.asked + second.asked:
        assert all("written_by" not in message for message in asked.body["messages"])


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
    assert (row.calls, row.tokens_in, row.calls_without_tokens, row.calls_without_cost) == (1, 0, 1, 1)
    assert Run.objects.get().cost_micro is None


def test_a_refused_key_is_asked_once_until_it_changes(
    first: OpenAIServer, second: OpenAIServer, settings: Any, caplog: Any
) -> None:
    first.always = NO_KEY
    request = make_request("carafe", "carafe-cracked")
    assert isinstance(play(request), Reserved)
    assert set(answered(request)) == {"second"}
    assert skipped(request)[0] == [("first", KEY_SENTENCE)]
    assert len(first.asked) == 1
    again = make_request("kettle", "kettle-dented-spout")
    play(again)
    assert len(first.asked) == 1
    assert skipped(again)[0] == [("first", "Its key was refused.")]
    assert "key-of-first" not in caplog.text + str(ProviderState.objects.values().get())

    first.always = None
    settings.LLM_CHAIN = (provider("first", first, api_key="a new one"), settings.LLM_CHAIN[1])
    asked = len(first.asked)
    third = make_request("kettle", "kettle-dented-spout")
    play(third)
    assert len(first.asked) > asked
    assert set(answered(third)) == {"first"}
    assert ProviderState.objects.get().key_refused_at is None


def test_a_refused_key_is_tried_again_after_an_hour(first: OpenAIServer, second: OpenAIServer) -> None:
    first.canned.append(NO_KEY)
    play(make_request("kettle", "kettle-dented-spout"))
    ProviderState.objects.update(key_refused_at=timezone.now() - timedelta(minutes=61))
    later = make_request("kettle", "kettle-dented-spout")
    play(later)
    assert set(answered(later)) == {"first"}


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


def test_after_three_failures_in_a_row_all_workers_leave_a_provider_alone(
    first: OpenAIServer, second: OpenAIServer
) -> None:
    first.always = BUSY
    for _ in range(2):
        play(make_request("kettle"))
    assert ProviderState.objects.get().left_alone_until is None
    play(make_request("kettle"))
    state = ProviderState.objects.get()
    rest = state.left_alone_until - timezone.now()  # type: ignore[operator]
    assert (state.failures, state.last_trouble) == (3, BUSY_SENTENCE)
    assert timedelta(seconds=20) < rest <= timedelta(seconds=30)
    asked = len(first.asked)
    other = make_request("kettle")
    play(other)
    assert len(first.asked) == asked
    [[(name, why)], *_] = skipped(other)
    assert name == "first"
    assert re.fullmatch(r"It is left alone until (tomorrow, )?\d\d:\d\d after failures\.", why)


def test_the_rest_grows_and_one_answer_ends_it(first: OpenAIServer, second: OpenAIServer) -> None:
    first.always = BUSY
    ProviderState.objects.create(name="first", failures=5, left_alone_until=timezone.now())
    play(make_request("kettle"))
    rest = ProviderState.objects.get().left_alone_until - timezone.now()  # type: ignore[operator]
    assert timedelta(seconds=200) < rest <= timedelta(seconds=240)
    first.always = None
    ProviderState.objects.update(left_alone_until=timezone.now())
    request = make_request("kettle")
    play(request)
    assert set(answered(request)) == {"first"}
    state = ProviderState.objects.get()
    assert (state.failures, state.left_alone_until) == (0, None)


def test_a_wait_longer_than_our_patience_is_kept_by_asking_the_next(first: OpenAIServer, second: OpenAIServer) -> None:
    first.always = Canned({"error": {"message": "slow down"}}, status=429, headers={"retry-after": "600"})
    request = make_request("kettle")
    play(request)
    assert len(first.asked) == 1
    assert set(answered(request)) == {"second"}
    rest = ProviderState.objects.get().left_alone_until - timezone.now()  # type: ignore[operator]
    assert timedelta(seconds=590) < rest <= timedelta(seconds=600)


def test_a_provider_without_eyes_is_passed_over_for_pictures_only(
    servers: tuple[OpenAIServer, OpenAIServer], settings: Any
) -> None:
    settings.LLM_CHAIN = (provider("first", servers[0], vision_model=""), provider("second", servers[1]))
    request = make_request("carafe", "carafe-cracked")
    assert isinstance(play(request), Reserved)
    assert answered(request) == ["first", "first", "first", "second", "first"]
    assert skipped(request)[3] == [("first", "It has no model that takes pictures.")]
    assert len(servers[1].asked) == 1


@pytest.mark.parametrize(
    "refusal",
    [
        Canned({"error": {"message": "No endpoints found that support image input"}}, status=404),
        Canned({"error": {"message": "'messages.1.content' : value must be a string", "param": "content"}}, status=400),
        Canned({"error": {"message": "this model is not a multimodal model"}}, status=400),
    ],
)
def test_a_model_that_refuses_pictures_is_not_shown_any_again(
    first: OpenAIServer, second: OpenAIServer, refusal: Canned
) -> None:
    first.canned += [SCRIPTED] * 4 + [refusal]
    assert isinstance(play(make_request("carafe", "carafe-cracked")), Reserved)
    assert len(second.asked) == 1
    play(make_request("kettle", "kettle-dented-spout"))
    pictures = [isinstance(asked.body["messages"][-1]["content"], list) for asked in first.asked]
    assert pictures.count(True) == 1
    assert ProviderState.objects.count() == 0


def test_where_nobody_sees_the_verdict_is_unclear_and_a_person_looks(
    servers: tuple[OpenAIServer, OpenAIServer], settings: Any
) -> None:
    settings.LLM_CHAIN = tuple(
        provider(name, server, vision_model="") for name, server in zip(("first", "second"), servers, strict=True)
    )
    settings.SCRIPTED_MODEL = "never"
    request = make_request("carafe", "carafe-cracked")
    result = play(request)
    assert isinstance(result, Handover)
    assert result.recommendation == "ask_customer"
    look = request.steps.get(tool="inspect_photo")
    assert look.result is not None
    assert (look.state, look.result["verdict"]) == ("done", "unclear")
    assert [one["provider"] for one in look.skipped] == ["first", "second"]
    assert Refund.objects.count() == 0


def test_the_scripted_model_finishes_when_all_providers_fail_and_the_run_says_so(
    first: OpenAIServer, second: OpenAIServer, settings: Any
) -> None:
    settings.SCRIPTED_MODEL = "last"
    first.canned += [SCRIPTED, SCRIPTED]
    first.always = second.always = BUSY
    request = make_request("carafe", "carafe-cracked")
    assert isinstance(play(request), Reserved)
    assert answered(request) == ["first", "first", "scripted", "scripted", "scripted"]
    assert skipped(request)[2] == [("first", BUSY_SENTENCE), ("second", BUSY_SENTENCE)]
    run = Run.objects.get()
    assert (run.provider, run.model, run.cost_micro) == ("scripted", "scripted model", 2 * COST)


def test_without_the_scripted_model_a_person_gets_the_case_and_reads_why(
    first: OpenAIServer, second: OpenAIServer
) -> None:
    first.always, second.always = BUSY, NO_KEY
    request = make_request("carafe", "carafe-cracked")
    result = play(request)
    assert isinstance(result, Handover)
    assert result.recommendation == "manual_review"
    error = request.steps.get(kind=Step.Kind.ERROR)
    assert error.detail == f"No model could work on this request. first: {BUSY_SENTENCE} second: {KEY_SENTENCE}"
    assert [one["provider"] for one in error.skipped] == ["first", "second"]
    assert Refund.objects.count() == 0


def test_with_no_provider_and_no_scripted_model_a_person_gets_every_case(settings: Any) -> None:
    settings.SCRIPTED_MODEL = "never"
    request = make_request("carafe", "carafe-cracked")
    result = play(request)
    assert isinstance(result, Handover)
    assert result.recommendation == "manual_review"
    error = request.steps.get(kind=Step.Kind.ERROR)
    assert error.detail == "No language model is set up here, so a person takes the case."
    decline = make_request("dripper", "dripper-no-damage")
    text = word_decline(begin(decline), request_id=decline.pk, note="It is whole.")
    assert text == template(decline.line.name, "It is whole.")


def test_what_two_models_refuse_a_person_reads(first: OpenAIServer, second: OpenAIServer, settings: Any) -> None:
    settings.SCRIPTED_MODEL = "last"
    refusal = {"choices": [{"message": {"refusal": "No."}, "finish_reason": "stop"}]}
    first.always = second.always = Canned(refusal)
    request = make_request("carafe", "carafe-cracked")
    result = play(request)
    assert isinstance(result, Handover)
    assert result.recommendation == "manual_review"
    assert (len(first.asked), len(second.asked)) == (1, 1)
    assert answered(request) == []
    assert ProviderState.objects.count() == 0


def test_what_one_model_refuses_another_may_review(first: OpenAIServer, second: OpenAIServer) -> None:
    first.canned.append(Canned({"choices": [{"message": {"refusal": "No."}, "finish_reason": "stop"}]}))
    request = make_request("kettle", "kettle-dented-spout")
    play(request)
    assert answered(request).count("second") == len(answered(request)) - 1  # the look at the photo is another question
    assert skipped(request)[0] == [("first", "The model refused to work on this request.")]


@pytest.mark.parametrize(
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
