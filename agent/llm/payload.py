"""Builds the body of a chat call from our messages and tools. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agent.llm.base import Message, ToolSpec
from agent.llm.features import Features
from agent.llm.provider_voice import texts_in
from agent.llm.read_answer import WANTED_BACK

# Room for a model that thinks before it calls; a cut answer is asked for again with more.
MAX_TOKENS = 8_000
CHARACTERS_PER_TOKEN = 4
TOKENS_PER_PICTURE = 1_000
# For a model that has no tools and is asked for the one answer a tool would carry.
ASK_FOR_JSON = "Answer with one JSON object and nothing else. It fits this schema: {schema}"
# What our own code keeps on a message about who wrote it; no provider is sent it.
WRITTEN_BY = "written_by"


def payload_for(
    model: str, messages: Sequence[Message], tools: Sequence[ToolSpec], features: Features, max_tokens: int
) -> dict[str, Any]:
    payload: dict[str, Any] = {"model": model, "messages": [_message(message, features) for message in messages]}
    if features.limit_name == "max_tokens":
        payload["max_tokens"] = max_tokens
    elif features.limit_name:
        payload["max_completion_tokens"] = max_tokens
    if tools and not features.tools:
        payload["messages"].append(
            {"role": "user", "content": ASK_FOR_JSON.format(schema=json.dumps(tools[0].parameters))}
        )
        if features.json_schema:
            payload["response_format"] = _answer_form(tools[0])
    elif tools:
        payload["tools"] = [_tool(tool, features) for tool in tools]
        if features.tool_choice:
            payload["tool_choice"] = "required"
        if features.parallel_tool_calls:
            payload["parallel_tool_calls"] = True
    return payload


def known_ids(messages: Sequence[Message]) -> frozenset[str]:
    """The ids of calls made so far in this conversation."""
    return frozenset(call["id"] for message in messages for call in message.get("tool_calls") or ())


def holds_pictures(messages: Sequence[Message]) -> bool:
    return any(isinstance(message.get("content"), list) for message in messages)


def about_tokens(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> int:
    """How many tokens a call with these is likely to read, for a provider that does not say."""
    told = [*(text for message in messages for text in texts_in(message)), *(_told(tool) for tool in tools)]
    parts = [part for message in messages if isinstance(message.get("content"), list) for part in message["content"]]
    pictures = sum(part.get("type") == "image_url" for part in parts)
    return -(-sum(map(len, told)) // CHARACTERS_PER_TOKEN) + pictures * TOKENS_PER_PICTURE


def as_sent_to(provider: str, messages: Sequence[Message]) -> list[Message]:
    """The history without our own notes, and without the reasoning fields that another provider's model wrote."""
    return [_for(provider, message) for message in messages]


def _for(provider: str, message: Message) -> Message:
    own = message.get(WRITTEN_BY, provider) == provider
    return {name: value for name, value in message.items() if name != WRITTEN_BY and (own or name not in WANTED_BACK)}


def _told(tool: ToolSpec) -> str:
    return tool.name + tool.description + json.dumps(tool.parameters)


def _message(message: Message, features: Features) -> Message:
    if features.send_back:
        return message
    return {name: value for name, value in message.items() if name not in WANTED_BACK}


def _answer_form(tool: ToolSpec) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": tool.name, "schema": tool.parameters, "strict": True}}


def _tool(tool: ToolSpec, features: Features) -> dict[str, Any]:
    function: dict[str, Any] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    if features.strict:
        function["strict"] = True
    return {"type": "function", "function": function}
