from __future__ import annotations

import json
from typing import Any

import pytest

from agent.tools.arguments import BadArguments, read_arguments, read_object
from agent.tools.issue_refund import IssueRefund
from agent.tools.offered import offered_tools
from agent.tools.read_policy import ReadPolicy
from agent.tools.request_approval import REQUEST_APPROVAL, RequestApproval
from agent.tools.tool import NoArguments


@pytest.mark.parametrize(
    "written",
    [
        '{"topic": "defe',
        '{"topic": "defective"}\n{"topic": "returns"}',
        "null",
        "42",
        '["defective"]',
        '"{\\"topic\\": \\"defective\\"}"',
        '```json\n{"topic": "defective"}\n```',
        '{"topic": NaN}',
        '{"topic": "defective", "topic": "returns"}',
        "[" * 5_000,
        '{"topic": "' + "x" * 30_000 + '"}',
    ],
)
def test_anything_but_one_json_object_is_no_argument(written: str) -> None:
    with pytest.raises(BadArguments):
        read_object(written)


@pytest.mark.parametrize("written", ["", "  ", "{}"])
def test_nothing_means_no_arguments(written: str) -> None:
    assert read_arguments(written, NoArguments) == NoArguments()


def test_what_no_database_can_store_is_taken_out_of_strings() -> None:
    assert read_object('{"a": ["x\\u0000y\\ud800"]}') == {"a": ["xy?"]}


def test_an_unknown_field_is_refused_and_not_repeated() -> None:
    with pytest.raises(BadArguments) as refused:
        read_arguments('{"order_id": "PH-999999"}', NoArguments)
    assert "PH-999999" not in refused.value.sentence
    assert "order_id" not in refused.value.sentence
    assert refused.value.sentence.endswith("This tool takes: none.")


def test_a_topic_outside_the_list_is_refused_with_the_list() -> None:
    with pytest.raises(BadArguments, match="'damaged_in_transit'"):
        read_arguments('{"topic": "gift wrapping"}', ReadPolicy)


@pytest.mark.parametrize("amount", ["24.9", '"$24.90"', "-24.90", "1e999", '"24.905"'])
def test_the_money_call_takes_no_amount(amount: str) -> None:
    with pytest.raises(BadArguments):
        read_arguments(f'{{"reason": "clear", "amount": {amount}}}', IssueRefund)


def test_long_remarks_are_cut_to_what_a_card_holds() -> None:
    claim = '{"text": "' + "x" * 300 + '", "source": null}'
    written = (
        f'{{"recommendation": "refund", "findings": [{", ".join([claim] * 7)}], "concerns": [], '
        f'"reasoning": "{"y" * 2500}", "draft_question": ""}}'
    )
    arguments = read_arguments(written, RequestApproval)
    assert len(arguments.findings) == 5
    assert len(arguments.findings[0].text) == 240
    assert len(arguments.reasoning) == 2000


def recommending(recommendation: str) -> str:
    return json.dumps(
        {"recommendation": recommendation, "findings": [], "concerns": [], "reasoning": "x", "draft_question": " "}
    )


@pytest.mark.parametrize("left", [{}, {"counter_case": None, "would_change": None}])
def test_a_model_that_leaves_out_the_case_against_is_not_sent_back(left: dict[str, Any]) -> None:
    arguments = read_arguments(json.dumps({**json.loads(recommending("refund")), **left}), RequestApproval)
    assert (arguments.counter_case, arguments.would_change) == (None, None)


def test_the_schema_asks_for_the_case_against_and_takes_no_null_for_it() -> None:
    parameters = REQUEST_APPROVAL.spec().parameters
    assert {"counter_case", "would_change"} < set(parameters["required"])
    assert parameters["properties"]["counter_case"]["required"] == ["text", "source"]
    assert parameters["properties"]["would_change"]["type"] == "string"


def test_asking_the_customer_needs_a_question() -> None:
    with pytest.raises(BadArguments, match="ask_customer needs a draft_question"):
        read_arguments(recommending("ask_customer"), RequestApproval)


def test_the_model_cannot_recommend_what_only_code_may() -> None:
    with pytest.raises(BadArguments):
        read_arguments(recommending("manual_review"), RequestApproval)


def test_every_schema_is_strict_to_the_last_object() -> None:
    def check(node: object) -> None:
        if isinstance(node, dict):
            assert "$ref" not in node
            if node.get("type") == "object":
                assert node["additionalProperties"] is False
                assert node["required"] == list(node["properties"])
            for value in node.values():
                check(value)
        elif isinstance(node, list):
            for value in node:
                check(value)

    for tool in offered_tools(may_refund=True):
        check(tool.spec().parameters)


def test_no_tool_takes_an_id_or_an_amount() -> None:
    fields = {name for tool in offered_tools(may_refund=True) for name in tool.arguments.model_fields}
    assert fields == {
        "topic", "source", "reason", "recommendation", "findings", "concerns", "reasoning", "counter_case",
        "would_change", "draft_question"
    }  # fmt: skip


def test_once_staff_are_in_the_money_tool_is_not_offered() -> None:
    assert [tool.name for tool in offered_tools(may_refund=False)] == [
        "get_order", "get_refund_history", "read_policy", "inspect_photo", "request_approval"
    ]  # fmt: skip


def test_what_is_nested_too_deep_is_no_fall() -> None:
    deep = '{"a":' * 900 + "1" + "}" * 900
    value = read_object(deep)
    for _ in range(50):
        value = value["a"]
    assert value is None
