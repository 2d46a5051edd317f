from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from agent import loop
from agent.lease import LeaseLost
from agent.llm.base import ContentRefused, KeyRefused, Message, ModelTrouble, Reply, ToolCall, ToolSpec, Usage
from agent.loop import review
from agent.models import Run
from agent.outcomes import Handover, Reserved
from agent.prompts import PROMPT_VERSION
from intake.models import RefundRequest
from payments.models import Refund
from tests.agent.mind.cases import begin

Ask = Callable[..., RefundRequest]
Turn = Reply | ModelTrouble
pytestmark = pytest.mark.django_db

APPROVE = {"recommendation": "refund", "findings": [], "concerns": [], "reasoning": "Clear.", "draft_question": ""}


class Puppet:
    """Says each turn in order and the last one again and again; keeps what it was asked."""

    provider, model = "puppet", "puppet-1"

    def __init__(self, *turns: Turn) -> None:
        self.turns = list(turns)
        self.asked: list[list[Message]] = []
        self.offered: list[str] = []

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], deadline: float) -> Reply:
        self.asked.append([dict(message) for message in messages])
        self.offered = [tool.name for tool in tools]
        turn = self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]
        if isinstance(turn, ModelTrouble):
            raise turn
        return turn


def says(*calls: tuple[str, Any], text: str = "") -> Reply:
    made = [
        ToolCall(f"c{number}", name, arguments if isinstance(arguments, str) else json.dumps(arguments))
        for number, (name, arguments) in enumerate(calls)
    ]
    return Reply(text, tuple(made), Usage(100, 10), "puppet", "puppet-1")


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Any, Puppet]]:
    def play(request: RefundRequest, *turns: Turn, may_refund: bool = True) -> tuple[Any, Puppet]:
        puppet = Puppet(*turns)
        monkeypatch.setattr(loop, "reviewing_model", lambda: puppet)
        return review(begin(request), may_refund=may_refund), puppet

    return play


def titles(request: RefundRequest) -> list[str]:
    return list(request.steps.values_list("title", flat=True))


def error_of(request: RefundRequest) -> str:
    return str(request.steps.get(kind="error").detail)


def test_a_review_ends_with_the_models_recommendation(ask: Ask, played: Any) -> None:
    request = ask("kettle")
    result, _ = played(request, says(("get_order", {})), says(("request_approval", APPROVE)))
    assert isinstance(result, Handover)
    assert (result.recommendation, result.reasoning) == ("refund", "Clear.")
    assert titles(request) == [f"Looked up order {request.line.order.number}", "Recommended: refund"]


def test_the_run_keeps_who_worked_on_it_and_what_it_cost(ask: Ask, played: Any) -> None:
    request = ask("kettle")
    played(request, says(("get_order", {})), says(("request_approval", APPROVE)))
    run = Run.objects.get()
    assert (run.provider, run.model, run.prompt_version) == ("puppet", "puppet-1", PROMPT_VERSION)
    assert (run.tokens_in, run.tokens_out, run.cost_micro) == (200, 20, None)


def test_an_unknown_cost_stays_unknown(ask: Ask, played: Any) -> None:
    request = ask("kettle")
    unknown = Reply("", (ToolCall("c", "get_order", "{}"),), Usage(), "p", "m")
    played(request, unknown, says(("request_approval", APPROVE)))
    assert Run.objects.get().tokens_in is None


def test_several_calls_run_one_after_another_and_the_first_carries_the_cost(ask: Ask, played: Any) -> None:
    request = ask("kettle")
    reads = says(("get_order", {}), ("get_refund_history", ""), ("read_policy", {"topic": "returns"}))
    _, puppet = played(request, reads, says(("request_approval", APPROVE)))
    assert [message["tool_call_id"] for message in puppet.asked[1] if message["role"] == "tool"] == ["c0", "c1", "c2"]
    assert list(request.steps.values_list("tokens_in", flat=True)) == [100, 0, 0, 100]


def test_what_stands_behind_a_finishing_call_is_not_run(ask: Ask, played: Any) -> None:
    request = ask("kettle")
    played(request, says(("request_approval", APPROVE), ("get_order", {}), ("issue_refund", {"reason": "x"})))
    assert titles(request) == ["Recommended: refund"]
    assert Refund.objects.count() == 0


def test_the_same_money_call_twice_in_one_answer_runs_once(ask: Ask, played: Any) -> None:
    request = ask("kettle")
    twice = says(("issue_refund", {"reason": "x"}), ("issue_refund", {"reason": "x"}))
    _, puppet = played(request, twice, says(("request_approval", APPROVE)))
    assert titles(request) == ["Automatic refund blocked", "Recommended: refund"]
    first, second = [message["content"] for message in puppet.asked[1] if message["role"] == "tool"]
    assert first == second


def test_money_is_reserved_once_however_often_it_is_asked_for(ask: Ask, played: Any) -> None:
    request = ask("carafe", "carafe-cracked")
    pay = ("issue_refund", {"reason": "x"})
    result, _ = played(request, says(("inspect_photo", {"source": "request"})), says(pay, pay, pay))
    assert isinstance(result, Reserved)
    assert Refund.objects.get().key == f"refund_{request.uuid}"


def test_an_answer_without_a_call_is_asked_once_more_with_the_names(ask: Ask, played: Any) -> None:
    result, puppet = played(ask("kettle"), says(text="Hello!"), says(("request_approval", APPROVE)))
    assert result.recommendation == "refund"
    *_, said, nudge = puppet.asked[1]
    assert said == {"role": "assistant", "content": "Hello!"}
    assert (
        "get_order, get_refund_history, read_policy, inspect_photo, issue_refund, request_approval" in nudge["content"]
    )


@pytest.mark.parametrize("text", ["", "Hello!", '<function=issue_refund>{"reason": "x"}</function>'])
def test_a_second_answer_without_a_call_goes_to_a_person(ask: Ask, played: Any, text: str) -> None:
    request = ask("carafe", "carafe-cracked")
    result, puppet = played(request, says(text=text))
    assert result.recommendation == "manual_review"
    assert len(puppet.asked) == 2
    assert error_of(request) == "The model answered twice without using a tool."
    assert Refund.objects.count() == 0


def test_an_answer_that_asks_for_hundreds_of_things_is_not_worked_off(ask: Ask, played: Any) -> None:
    request = ask("carafe", "carafe-cracked")
    calls = [("read_policy", {"topic": f"topic {number}"}) for number in range(300)]
    result, puppet = played(request, says(*calls))
    assert result.recommendation == "manual_review"
    assert len(puppet.asked) == 1
    assert not request.steps.filter(tool="read_policy").exists()
    assert error_of(request) == "The model asked for more than 16 things in one answer."


def test_the_third_identical_call_goes_to_a_person(ask: Ask, played: Any) -> None:
    request = ask("kettle")
    result, puppet = played(request, says(("get_order", {})))
    assert result.recommendation == "manual_review"
    assert len(puppet.asked) == 3
    assert len(request.steps.filter(tool="get_order")) == 2
    assert error_of(request) == "The model asked for the same thing 3 times."


def test_bad_calls_are_answered_twice_and_then_go_to_a_person(ask: Ask, played: Any) -> None:
    request = ask("kettle")
    bad = [says((f"tool_{number}", {})) for number in range(5)]
    result, puppet = played(request, *bad)
    assert result.recommendation == "manual_review"
    assert len(puppet.asked) == 3


def test_eight_rounds_are_the_end(ask: Ask, played: Any) -> None:
    request = ask("kettle")
    topics = [
        "overview",
        "automatic_refunds",
        "damaged_in_transit",
        "defective",
        "wrong_item",
        "changed_mind",
        "returns",
    ]
    reads = [says(("read_policy", {"topic": topic})) for topic in topics]
    result, puppet = played(request, *reads, says(("get_order", {})))
    assert result.recommendation == "manual_review"
    assert len(puppet.asked) == 8
    assert error_of(request) == "The review did not come to an end in 8 rounds."


def test_the_time_is_checked_before_each_call(ask: Ask, played: Any, settings: Any) -> None:
    settings.REVIEW_MAX_SECONDS = 0
    request = ask("kettle")
    result, puppet = played(request, says(("get_order", {})))
    assert (result.recommendation, puppet.asked) == ("manual_review", [])
    assert error_of(request) == "The review took longer than its time."


@pytest.mark.parametrize("trouble", [ContentRefused("The model refused."), KeyRefused("No key."), ModelTrouble("Odd.")])
def test_any_trouble_with_the_model_goes_to_a_person_at_once(ask: Ask, played: Any, trouble: ModelTrouble) -> None:
    request = ask("kettle", "kettle-dented-spout")
    result, puppet = played(request, trouble)
    assert (result.recommendation, len(puppet.asked)) == ("manual_review", 1)
    assert error_of(request) == trouble.sentence
    assert [rule.rule for rule in result.failed_rules] == ["limit", "photo"]
    assert [(point.text, point.source) for point in result.concerns] == [(trouble.sentence, "code")]


def test_a_refused_key_rings_for_whoever_runs_the_shop(ask: Ask, played: Any, caplog: Any) -> None:
    played(ask("kettle"), KeyRefused("The model's provider does not accept the key."))
    [record] = [record for record in caplog.records if record.name == "agent.llm.ask"]
    assert record.levelname == "ERROR"
    assert "puppet does not accept the key" in record.getMessage()


def test_bad_json_is_answered_with_an_error_and_stands_as_json_in_the_history(ask: Ask, played: Any) -> None:
    request = ask("kettle")
    broken = '{"topic": "defe'
    _, puppet = played(request, says(("read_policy", broken)), says(("request_approval", APPROVE)))
    assistant, result = puppet.asked[1][-2:]
    assert assistant["tool_calls"][0]["function"] == {"name": "read_policy", "arguments": "{}"}
    assert json.loads(result["content"]) == {
        "error": "The arguments were not valid JSON. Send exactly one JSON object."
    }
    assert broken not in json.dumps(puppet.asked[1])


def test_an_odd_tool_name_goes_back_in_a_form_every_provider_takes(ask: Ask, played: Any) -> None:
    _, puppet = played(ask("kettle"), says(("get_order<|channel|>x", {})), says(("request_approval", APPROVE)))
    assert puppet.asked[1][-2]["tool_calls"][0]["function"]["name"] == "get_orderchannelx"


def test_after_a_reply_the_money_tool_is_neither_offered_nor_run(ask: Ask, played: Any) -> None:
    request = ask("carafe", "carafe-cracked")
    look, pay = says(("inspect_photo", {"source": "request"})), says(("issue_refund", {"reason": "x"}))
    result, puppet = played(request, look, pay, says(("request_approval", APPROVE)), may_refund=False)
    assert "issue_refund" not in puppet.offered
    assert isinstance(result, Handover)
    assert Refund.objects.count() == 0


def test_whoever_lost_the_lease_writes_nothing_more(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    request = ask("carafe", "carafe-cracked")
    lease = begin(request)

    class Thief(Puppet):
        def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], deadline: float) -> Reply:
            Run.objects.update(token=uuid4())
            return super().complete(messages, tools, deadline)

    monkeypatch.setattr(loop, "reviewing_model", lambda: Thief(says(("issue_refund", {"reason": "x"}))))
    with pytest.raises(LeaseLost):
        review(lease, may_refund=True)
    assert request.steps.count() == 0
    assert Refund.objects.count() == 0


def test_the_lease_outlasts_every_call(ask: Ask, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    request = ask("kettle")
    lease = begin(request)
    left: list[float] = []

    class Slow(Puppet):
        def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], deadline: float) -> Reply:
            left.append((Run.objects.get().lease_until - timezone.now()).total_seconds())  # type: ignore[operator]
            clock["now"] += 40
            Run.objects.update(lease_until=Run.objects.get().lease_until - timedelta(seconds=40))  # type: ignore[operator]
            return super().complete(messages, tools, deadline)

    clock = {"now": time.monotonic()}
    monkeypatch.setattr(time, "monotonic", lambda: clock["now"])
    slow = Slow(says(("get_order", {})), says(text="x"), says(("request_approval", APPROVE)))
    monkeypatch.setattr(loop, "reviewing_model", lambda: slow)
    review(lease, may_refund=True)
    assert all(seconds > settings.CALL_MAX_SECONDS for seconds in left)


def test_a_short_review_costs_few_queries(
    ask: Ask, played: Any, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    request = ask("kettle")
    # one of them looks for a parcel that was only noted
    with django_assert_max_num_queries(44):
        played(request, says(("get_order", {})), says(("request_approval", APPROVE)))


def test_half_characters_of_an_answer_are_never_sent_on(ask: Ask, played: Any) -> None:
    _, puppet = played(ask("kettle"), says(text="Hm \ud800\x00."), says(("request_approval", APPROVE)))
    assert puppet.asked[1][2]["content"] == "Hm ?."
