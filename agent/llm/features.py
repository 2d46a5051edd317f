"""Optional parts of a call that a model may refuse, and how its refusal names them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any

REFUSING_STATUSES = (400, 404, 415, 422)
PICTURES = re.compile(r"image|vision|multimodal|modalit")
NOT_TAKEN = re.compile(r"support|not a multimodal|modalit|unknown variant|invalid content type|text[- ]only|only text")
ONLY_TEXT = re.compile(r"content.{0,40}must be a string|expected a string")
NO_TOOLS = re.compile(
    r"(?:not|n't) support(?:ed)? (?:the )?(?:use of )?(?:tool|function)|tools?(?: use| calling)? (?:is|are) not"
)


@dataclass(frozen=True)
class Features:
    """What a call makes use of. `send_back`: the model wants its own reasoning fields back with the next call.

    `json_schema` takes the place of a single tool when the model has no `tools`.
    """

    strict: bool = True
    parallel_tool_calls: bool = True
    tool_choice: bool = True
    limit_name: str | None = "max_tokens"
    send_back: bool = False
    tools: bool = True
    json_schema: bool = True
    pictures: bool = True


DEFAULTS = Features()


@dataclass(frozen=True)
class Sent:
    """What stood in the refused call."""

    tools: int = 0
    pictures: bool = False


def refused_feature(status: int, body: Any, features: Features, sent: Sent) -> Features | None:
    """What to go on with after this error answer; None when it names no feature in use."""
    if status not in REFUSING_STATUSES or not isinstance(body, dict):
        return None
    said = json.dumps(body).lower()
    if sent.pictures and (ONLY_TEXT.search(said) or (PICTURES.search(said) and NOT_TAKEN.search(said))):
        return replace(features, pictures=False)
    return _without_tools(said, features, sent) or _without_the_rest(said, features)


def _without_tools(said: str, features: Features, sent: Sent) -> Features | None:
    if sent.tools and features.tools:
        if features.parallel_tool_calls and "parallel_tool_calls" in said:
            return replace(features, parallel_tool_calls=False)
        if features.tool_choice and "tool_choice" in said:
            return replace(features, tool_choice=False)
        if features.strict and re.search(r"\bstrict\b", said):
            return replace(features, strict=False)
        if sent.tools == 1 and NO_TOOLS.search(said):
            return replace(features, tools=False)
    if sent.tools and not features.tools and features.json_schema and re.search(r"response_format|json_schema", said):
        return replace(features, json_schema=False)
    return None


def _without_the_rest(said: str, features: Features) -> Features | None:
    if features.limit_name and re.search(rf"\b{features.limit_name}\b", said):
        return replace(features, limit_name="max_completion_tokens" if features.limit_name == "max_tokens" else None)
    if not features.send_back and re.search(r"reasoning_content|reasoning_details|thought_signature", said):
        return replace(features, send_back=True)
    return None
