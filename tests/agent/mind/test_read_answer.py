from __future__ import annotations

from typing import Any

import pytest

from agent.llm.base import ContentRefused, KeyRefused, Reply, Temporary, Usage
from agent.llm.read_answer import read_answer


def read(message: Any, known_ids: tuple[str, ...] = (), finish: str | None = "stop", **body: Any) -> Reply:
    answer = {"choices": [{"message": message, "finish_reason": finish}], **body}
    return read_answer(answer, provider="p", model="m", known_ids=known_ids).reply


def call(arguments: Any, call_id: Any = "c1", name: str = "get_order") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_a_plain_answer_is_its_text_and_what_it_cost() -> None:
    reply = read({"content": "Done."}, model="other/m", usage={"prompt_tokens": 8, "completion_tokens": 3})
    assert reply == Reply("Done.", (), Usage(8, 3), "p", "other/m")


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": "8"}, {"prompt_tokens": -1}, []])
def test_unknown_cost_is_unknown_and_not_nothing(usage: Any) -> None:
    assert read({"content": "Done."}, usage=usage).usage == Usage(None, None)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "text", "text": "All "}, {"type": "text", "text": "done."}], "All done."),
        ("<think>Hide this.</think>\nShown.", "Shown."),
        ("still thinking</think> Shown.", "Shown."),
        ("<think>never ended", ""),
        (None, ""),
        (42, ""),
        ([None, {"type": "image"}], ""),
    ],
)
def test_the_text_is_what_the_model_says_and_not_what_it_thinks(content: Any, text: str) -> None:
    assert read({"content": content}).text == text


def test_arguments_given_as_an_object_become_a_string() -> None:
    [only] = read({"tool_calls": [call({"topic": "returns"})]}).tool_calls
    assert only.arguments == '{"topic": "returns"}'


def test_the_old_field_for_one_call_is_read_too() -> None:
    [only] = read({"function_call": {"name": "get_order", "arguments": "{}"}}).tool_calls
    assert (only.name, only.arguments, len(only.id)) == ("get_order", "{}", 9)


@pytest.mark.parametrize("bad_id", [None, "", 7, "taken"])
def test_a_missing_or_repeated_id_is_replaced(bad_id: Any) -> None:
    [only] = read({"tool_calls": [call("{}", bad_id)]}, known_ids=("taken",)).tool_calls
    assert len(only.id) == 9
    assert only.id.isalnum()


def test_two_calls_with_one_id_get_two() -> None:
    one, two = read({"tool_calls": [call("{}", "same"), call("{}", "same")]}).tool_calls
    assert one.id == "same"
    assert two.id != "same"


def test_the_calls_decide_and_not_the_finish_reason() -> None:
    assert len(read({"tool_calls": [call("{}")]}, finish=None).tool_calls) == 1
    assert read({"content": "", "tool_calls": []}, finish="tool_calls").tool_calls == ()


@pytest.mark.parametrize("entry", [None, "x", {}, {"function": None}, {"function": {"name": None}}])
def test_a_call_of_odd_shape_is_a_call_without_a_name(entry: Any) -> None:
    [only] = read({"tool_calls": [entry]}).tool_calls
    assert (only.name, only.arguments) == ("", "")


def test_a_refusal_and_a_filter_are_refusals() -> None:
    with pytest.raises(ContentRefused):
        read({"content": None, "refusal": "I cannot help with that."})
    with pytest.raises(ContentRefused):
        read({"content": None}, finish="content_filter")


@pytest.mark.parametrize(
    "body",
    [None, [], "busy", {}, {"choices": []}, {"choices": None, "error": {"code": 429}}, {"error": {"code": 502}},
     {"choices": [{"error": {"code": 502}, "message": None}]}, {"choices": ["x"]}, {"error": "down"}],
)  # fmt: skip
def test_a_body_without_an_answer_is_worth_another_try(body: Any) -> None:
    with pytest.raises(Temporary):
        read_answer(body, provider="p", model="m", known_ids=())


def test_a_refused_key_inside_a_good_answer_is_a_refused_key() -> None:
    with pytest.raises(KeyRefused):
        read_answer({"error": {"code": 401, "message": "sk-123 unknown"}}, provider="p", model="m", known_ids=())
