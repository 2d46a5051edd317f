"""What the calls of a review used and cost, and where it is written down."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.llm.payload import about_tokens
from agent.models import Run, TokenDay
from agent.outcomes import Handover
from agent.word_decline import word_decline
from intake.models import Step
from tests.agent.mind.cases import begin, make_request
from tests.agent.mind.chains import BUSY, COST, CUT, REFUSED, SCRIPTED, play, provider
from tests.openai_server import Canned, OpenAIServer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_waiting")]


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


def test_a_message_to_a_customer_that_no_model_could_write_is_paid_for_all_the_same(
    first: OpenAIServer, second: OpenAIServer
) -> None:
    first.always = second.always = REFUSED
    request = make_request("dripper", "dripper-no-damage")
    word_decline(begin(request), request_id=request.pk, note="It is whole.")
    run = Run.objects.get()
    assert (run.provider, run.tokens_in, run.tokens_out, run.cost_micro) == ("", 140_000, 0, 140_000)


def test_a_picture_is_not_guessed_by_its_letters() -> None:
    url = {"url": "data:image/jpeg;base64," + "x" * 1_000_000}
    parts = [{"type": "text", "text": "x" * 400}, {"type": "image_url", "image_url": url}]
    assert about_tokens([{"role": "user", "content": parts}], []) == 1_100


def test_a_decline_that_is_worded_again_costs_both_tries(first: OpenAIServer) -> None:
    request = make_request("dripper", "dripper-no-damage")
    Run.objects.update(tries=1, tokens_in=70, tokens_out=30, cost_micro=130)
    word_decline(begin(request), request_id=request.pk, note="It is whole.")
    run = Run.objects.get()
    assert (run.tokens_in, run.tokens_out, run.cost_micro) == (870, 70, 130 + COST)
