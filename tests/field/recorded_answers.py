"""The recorded answers of OpenAI-compatible providers, ready to be served; good calls rewritten to our own tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.openai_server import Canned

FOLDER = Path(__file__).parent / "llm"
EXPECTED = {entry["file"]: entry for entry in json.loads((FOLDER / "expectations.json").read_text())["files"]}
STREAMED = {"stream_args_in_pieces.sse", "stream_says_tool_calls_but_cut.sse"}
FILES = sorted(path.name for path in FOLDER.iterdir() if path.name != "expectations.json" and path.name not in STREAMED)

REWRITTEN: dict[str, tuple[str, dict[str, Any]]] = {
    "get_order": ("get_order", {}),
    "list_open_requests": ("get_refund_history", {}),
    "get_customer_history": ("get_refund_history", {}),
    "search_policy": ("read_policy", {"topic": "damaged_in_transit"}),
    "issue_refund": ("issue_refund", {"reason": "The photo shows the fault."}),
}
# Files whose calls are good ones, so that only their shape is odd.
GOOD_CALLS = {
    "ok_one_tool_call.json", "args_as_object.json", "args_empty_string_no_params.json", "call_id_missing.json",
    "duplicate_call_ids.json", "finish_reason_null.json", "finish_stop_with_tool_calls.json",
    "id_same_as_earlier_turn.json", "legacy_function_call.json", "reasoning_with_tool_call.json",
    "same_refund_twice_in_one_turn.json", "seq_same_call_forever.json", "two_reads_in_parallel.json",
}  # fmt: skip

ODDITIES = (
    "PH-999999", "PH-100235", "sk-sampl", "<html", "RR-5001", "window.__sampleXss", "P14.7", "Customer seems angry",
    "I cannot help with that", "transfer_money", "failed_generation",
)  # fmt: skip


def answers(name: str) -> list[Canned]:
    """The file as one or more answers to be served, good calls rewritten."""
    entry, raw = EXPECTED[name], (FOLDER / name).read_bytes()
    if entry["http_status"] != 200:
        return [Canned(raw, status=entry["http_status"], headers=entry["headers"])]
    body = json.loads(raw)
    if name == "args_money_variants.json":
        bodies = [money_call(case["arguments"]) for case in body["cases"]]
    elif name == "seq_same_call_forever.json":
        bodies = [body["repeat_each_turn"]]
    else:
        bodies = body.get("turns") or body.get("cases") or [body]
    return [Canned(rewritten(each) if name in GOOD_CALLS else each) for each in bodies]


def money_call(arguments: str) -> dict[str, Any]:
    call = {"id": "call_a1", "type": "function", "function": {"name": "issue_refund", "arguments": arguments}}
    return {"choices": [{"message": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "tool_calls"}]}


def rewritten(body: dict[str, Any]) -> dict[str, Any]:
    body = json.loads(json.dumps(body))
    message = body["choices"][0]["message"]
    functions = [call["function"] for call in message.get("tool_calls") or []]
    if "function_call" in message:
        functions.append(message["function_call"])
    for function in functions:
        name, arguments = REWRITTEN[function["name"]]
        odd = function["arguments"]
        function["name"] = name
        function["arguments"] = arguments if isinstance(odd, dict) else json.dumps(arguments) if odd else ""
    return body
