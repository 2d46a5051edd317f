"""Builds the body of a chat call from our messages and tools. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.llm.base import Message, ToolSpec
from agent.llm.features import Features
from agent.llm.read_answer import WANTED_BACK

# Room for a model that thinks before it calls; a cut answer is asked for again with more.
MAX_TOKENS = 8_000


def payload_for(
    model: str, messages: Sequence[Message], tools: Sequence[ToolSpec], features: Features, max_tokens: int
) -> dict[str, Any]:
    payload: dict[str, Any] = {"model": model, "messages": [_message(message, features) for message in messages]}
    if features.limit_name == "max_tokens":
        payload["max_tokens"] = max_tokens
    elif features.limit_name:
        payload["max_completion_tokens"] = max_tokens
    if tools:
        payload["tools"] = [_tool(tool, features) for tool in tools]
        if features.tool_choice:
            payload["tool_choice"] = "required"
        if features.parallel_tool_calls:
            payload["parallel_tool_calls"] = True
    return payload


def known_ids(messages: Sequence[Message]) -> frozenset[str]:
    """The ids of calls made so far in this conversation."""
    return frozenset(call["id"] for message in messages for call in message.get("tool_calls") or ())


def _message(message: Message, features: Features) -> Message:
    if features.send_back:
        return message
    return {name: value for name, value in message.items() if name not in WANTED_BACK}


def _tool(tool: ToolSpec, features: Features) -> dict[str, Any]:
    function: dict[str, Any] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    if features.strict:
        function["strict"] = True
    return {"type": "function", "function": function}
