"""What each recorded answer must come to, judged by steps, cards, ledger rows and what was sent to the provider."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from agent.llm import openai_chat
from agent.llm.openai_chat import OpenAIChat
from agent.models import Approval, Run
from agent.tasks import work
from agent.word_decline import template, word_decline
from intake.models import Photo, RefundRequest, Step
from intake.statuses import Status
from payments.models import Refund, RefundOutcome
from tests.agent.mind.cases import begin, make_request
from tests.field.recorded_answers import answers
from tests.openai_server import MODEL, Canned, OpenAIServer

Check = Callable[[OpenAIServer, str, list[float]], None]


def play(request: RefundRequest) -> RefundRequest:
    """Works the request's run off, as a worker does."""
    work(str(Run.objects.get(request=request, status=Run.Status.QUEUED).pk))
    request.refresh_from_db()
    return request


def sent_messages(server: OpenAIServer, call: int = -1) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = server.asked[call].body["messages"]
    return messages


def tool_steps(request: RefundRequest, **fields: Any) -> int:
    return request.steps.filter(kind=Step.Kind.TOOL, **fields).count()


def runs_the_call(server: OpenAIServer, name: str, waited: list[float]) -> None:
    """The first tool of the file runs once, as if its shape were ordinary."""
    server.canned += answers(name)
    request = play(make_request("kettle", "kettle-dented-spout"))
    called = json.loads(answers(name)[0].as_bytes())["choices"][0]["message"]
    first = (called.get("tool_calls") or [{"function": called.get("function_call")}])[0]["function"]["name"]
    assert tool_steps(request, tool=first, state=Step.State.DONE) == 1
    assert tool_steps(request, state=Step.State.FAILED) == 0
    assert Approval.objects.get(request=request).recommendation == "refund"


def answers_with_an_error(server: OpenAIServer, name: str, waited: list[float]) -> None:
    """The tool does not run; the model is told, corrects itself, and what it wrote is not sent back."""
    for canned in answers(name):
        server.asked.clear()
        server.canned.append(canned)
        request = play(make_request("kettle", "kettle-dented-spout"))
        assert tool_steps(request, state=Step.State.FAILED) == 1
        step = request.steps.get(state=Step.State.FAILED)
        assert step.arguments is None
        assistant, result = sent_messages(server, 1)[-2:]
        assert json.loads(result["content"]).keys() == {"error"}
        assert assistant["tool_calls"][0]["id"] == result["tool_call_id"]
        written = json.loads(canned.as_bytes())["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]
        if not _is_object(written):
            assert assistant["tool_calls"][0]["function"]["arguments"] == "{}"
        assert Approval.objects.get(request=request).recommendation == "refund"


def _is_object(written: str) -> bool:
    try:
        return isinstance(json.loads(written), dict)
    except ValueError:
        return False


def moves_no_money(server: OpenAIServer, name: str, waited: list[float]) -> None:
    """Each variant stands where a clear case would be paid: it is refused, and what is paid then is the ledger's."""
    for canned in answers(name):
        looked = [_scripted() for _ in range(5)]
        server.canned += [*looked, canned]
        request = play(make_request("carafe", "carafe-cracked"))
        assert tool_steps(request, tool="issue_refund", state=Step.State.FAILED) == 1
        assert [refund.amount_minor for refund in Refund.objects.filter(request_uuid=request.uuid)] == [3400]
        assert request.status == Status.REFUNDED
        Photo.objects.update(digest="of another picture")  # the next case is no reuse of this one


def is_asked_again(server: OpenAIServer, name: str, waited: list[float]) -> None:
    """Counts as an empty turn: asked once more, and the answer to that is used."""
    server.canned += answers(name)
    request = play(make_request("kettle", "kettle-dented-spout"))
    assert "held no tool call" in sent_messages(server, 1)[-1]["content"]
    assert Approval.objects.get(request=request).recommendation == "refund"
    assert Refund.objects.count() == 0


def is_asked_again_with_more_room(server: OpenAIServer, name: str, waited: list[float]) -> None:
    server.canned += answers(name)
    request = play(make_request("kettle", "kettle-dented-spout"))
    first, second = server.asked[:2]
    assert second.body["max_tokens"] > first.body["max_tokens"]
    assert second.body["messages"] == first.body["messages"]
    assert tool_steps(request, tool="issue_refund") == 1
    server.always = answers(name)[0]
    server.asked.clear()
    play(make_request("kettle", "kettle-dented-spout"))
    assert len(server.asked) == 2


def goes_to_staff_at_once(server: OpenAIServer, name: str, waited: list[float]) -> None:
    server.canned += answers(name)
    request = play(make_request("carafe", "carafe-cracked"))
    assert len(server.asked) == 1
    assert Approval.objects.get(request=request).recommendation == "manual_review"
    customer_reads = list(request.steps.filter(for_customer=True).values_list("title", flat=True))
    assert customer_reads == ["A person in our team is looking at your request"]
    assert Refund.objects.count() == 0


def is_tried_again(server: OpenAIServer, name: str, waited: list[float]) -> None:
    server.canned += answers(name)
    request = play(make_request("carafe", "carafe-cracked"))
    assert waited == [1.0]
    assert request.status == Status.REFUNDED
    assert not request.steps.filter(kind=Step.Kind.ERROR).exists()


def waits_six_seconds(server: OpenAIServer, name: str, waited: list[float]) -> None:
    server.canned += answers(name)
    request = play(make_request("carafe", "carafe-cracked"))
    assert waited == [6.0]
    assert request.status == Status.REFUNDED


def does_not_wait_42_seconds(server: OpenAIServer, name: str, waited: list[float]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openai_chat, "epoch_seconds", lambda: 1_718_000_000.0)
        goes_to_staff_at_once(server, name, waited)
    assert waited == []


def goes_on_without_the_feature(server: OpenAIServer, name: str, waited: list[float]) -> None:
    server.canned += answers(name)
    request = play(make_request("carafe", "carafe-cracked"))

    def used(body: dict[str, Any]) -> bool:
        if "parallel" in name:
            return "parallel_tool_calls" in body
        return "strict" in body["tools"][0]["function"]

    assert [used(asked.body) for asked in server.asked] == [True] + [False] * (len(server.asked) - 1)
    assert len(server.asked) == 7
    assert request.status == Status.REFUNDED


def is_the_answer(expected: str) -> Check:
    def check(server: OpenAIServer, name: str, waited: list[float]) -> None:
        """Read as text where a text is asked for; a customer reads it only where it declines, which none of the files
        does, and in a review it is no action and asked once more."""
        if expected:
            server.canned += answers(name)
            chat = OpenAIChat(server.url, "sk-test", MODEL)
            assert chat.complete([{"role": "user", "content": "Hello"}], [], time.monotonic() + 10).text == expected
        server.canned += answers(name)
        request = make_request("dripper", "dripper-no-damage")
        lease = begin(request)
        text = word_decline(lease, request_id=request.pk, note="Order arrived 4 days ago, whole.")
        assert text == template(request.line.name, "Order arrived 4 days ago, whole.")
        server.asked.clear()
        is_asked_again(server, name, waited)

    return check


def pays_once(server: OpenAIServer, name: str, waited: list[float]) -> None:
    looked = [_scripted() for _ in range(5)]
    server.canned += [*looked, *answers(name)]
    request = play(make_request("carafe", "carafe-cracked"))
    [refund] = Refund.objects.all()
    assert (refund.key, refund.amount_minor) == (f"refund_{request.uuid}", 3400)
    assert RefundOutcome.objects.count() == 1
    assert tool_steps(request, tool="issue_refund") == 1
    assert request.status == Status.REFUNDED


def runs_both_in_order(server: OpenAIServer, name: str, waited: list[float]) -> None:
    runs_the_call(server, name, waited)
    first, second = [message for message in sent_messages(server, 1) if message["role"] == "tool"]
    assert "this_request" in first["content"]
    assert "this_request" not in second["content"]
    assert first["tool_call_id"] != second["tool_call_id"]


def runs_in_both_turns(server: OpenAIServer, name: str, waited: list[float]) -> None:
    runs_the_call(server, name, waited)
    results = [message["content"] for message in sent_messages(server, 2) if message["role"] == "tool"]
    assert ["this_request" in results[0], "policy_version" in results[1]] == [True, True]


def keeps_its_reasoning_to_itself(server: OpenAIServer, name: str, waited: list[float]) -> None:
    runs_the_call(server, name, waited)
    assert "reasoning_content" not in json.dumps([asked.body for asked in server.asked])


def stops_after_three(server: OpenAIServer, name: str, waited: list[float]) -> None:
    server.always = answers(name)[0]
    request = play(make_request("carafe", "carafe-cracked"))
    assert len(server.asked) == 3
    assert request.steps.get(kind=Step.Kind.ERROR).detail == "The model asked for the same thing 3 times."


def has_an_unknown_cost(server: OpenAIServer, name: str, waited: list[float]) -> None:
    is_the_answer("Done.")(server, name, waited)
    assert list(Run.objects.values_list("tokens_in", "tokens_out"))[-1] == (None, None)


def _scripted() -> Canned:
    """A place in the queue for which the scripted model answers."""
    return Canned(None)


CHECKS: dict[str, Check] = {
    "args_as_object.json": runs_the_call,
    "args_cut_finish_length.json": is_asked_again_with_more_room,
    "args_cut_in_the_middle.json": answers_with_an_error,
    "args_double_encoded.json": answers_with_an_error,
    "args_empty_string_no_params.json": runs_the_call,
    "args_extra_data_after_json.json": answers_with_an_error,
    "args_foreign_order.json": answers_with_an_error,
    "args_in_code_fence.json": answers_with_an_error,
    "args_json_list.json": answers_with_an_error,
    "args_json_null.json": answers_with_an_error,
    "args_json_number.json": answers_with_an_error,
    "args_money_variants.json": moves_no_money,
    "call_id_missing.json": runs_the_call,
    "choices_empty.json": is_tried_again,
    "choices_null_with_error.json": is_tried_again,
    "content_as_parts.json": is_the_answer("All done."),
    "content_filter_empty.json": goes_to_staff_at_once,
    "content_null_no_calls.json": is_asked_again,
    "duplicate_call_ids.json": runs_both_in_order,
    "error_inside_200.json": is_tried_again,
    "finish_reason_null.json": runs_the_call,
    "finish_stop_with_tool_calls.json": runs_the_call,
    "finish_tool_calls_but_list_empty.json": is_asked_again,
    "http_400_parallel_unsupported.json": goes_on_without_the_feature,
    "http_400_strict_unsupported.json": goes_on_without_the_feature,
    "http_400_tool_use_failed.json": is_asked_again,
    "http_401.json": goes_to_staff_at_once,
    "http_429_reset_in_body.json": does_not_wait_42_seconds,
    "http_429_retry_after.json": waits_six_seconds,
    "http_503_html.txt": is_tried_again,
    "id_same_as_earlier_turn.json": runs_in_both_turns,
    "legacy_function_call.json": runs_the_call,
    "made_up_policy_citation.json": is_the_answer(""),
    "markup_in_answer.json": is_the_answer(""),
    "ok_final_text.json": is_the_answer(
        "Your order arrived 4 days ago and the picture shows a crack. I am passing this on."
    ),
    "ok_one_tool_call.json": runs_the_call,
    "pseudo_call_as_xml_text.json": is_asked_again,
    "reasoning_only.json": is_asked_again,
    "reasoning_with_tool_call.json": keeps_its_reasoning_to_itself,
    "refusal_field.json": goes_to_staff_at_once,
    "same_refund_twice_in_one_turn.json": pays_once,
    "seq_same_call_forever.json": stops_after_three,
    "think_tags_in_content.json": is_the_answer("Thanks, I have all I need."),
    "tool_choice_required_ignored.json": is_asked_again,
    "tool_name_with_prefix.json": answers_with_an_error,
    "two_reads_in_parallel.json": runs_both_in_order,
    "unknown_tool.json": answers_with_an_error,
    "usage_missing.json": has_an_unknown_cost,
}

# The words of `expectations.json`, and which checks prove them.
CHECKS_OF: dict[str, set[str]] = {
    "run": {"runs_the_call", "runs_both_in_order", "runs_in_both_turns", "keeps_its_reasoning_to_itself"},
    "run_once": {"pays_once"},
    "run_or_re_ask": {"runs_the_call"},
    "run_or_tool_error": {"answers_with_an_error"},
    "tool_error_result": {"answers_with_an_error"},
    "per_case": {"moves_no_money"},
    "final_answer": {"is_the_answer", "has_an_unknown_cost"},
    "re_ask": {"is_asked_again", "is_asked_again_with_more_room"},
    "re_ask_or_strip": {"is_the_answer"},
    "retry_later": {"is_tried_again", "waits_six_seconds", "does_not_wait_42_seconds"},
    "retry_without_feature": {"goes_on_without_the_feature"},
    "escalate": {"goes_to_staff_at_once", "stops_after_three"},
}
