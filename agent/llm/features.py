"""Optional parts of a call that a model may refuse, and how its refusal names them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any

REFUSING_STATUSES = (400, 404, 422)


@dataclass(frozen=True)
class Features:
    """What a call makes use of. `send_back`: the model wants its own reasoning fields back with the next call."""

    strict: bool = True
    parallel_tool_calls: bool = True
    tool_choice: bool = True
    limit_name: str | None = "max_tokens"
    send_back: bool = False


DEFAULTS = Features()


def refused_feature(status: int, body: Any, features: Features, *, has_tools: bool) -> Features | None:
    """What to go on with after this error answer; None when it names no feature in use."""
    if status not in REFUSING_STATUSES or not isinstance(body, dict):
        return None
    said = json.dumps(body).lower()
    if has_tools and features.parallel_tool_calls and "parallel_tool_calls" in said:
        return replace(features, parallel_tool_calls=False)
    if has_tools and features.tool_choice and "tool_choice" in said:
        return replace(features, tool_choice=False)
    if has_tools and features.strict and re.search(r"\bstrict\b", said):
        return replace(features, strict=False)
    if features.limit_name and re.search(rf"\b{features.limit_name}\b", said):
        return replace(features, limit_name="max_completion_tokens" if features.limit_name == "max_tokens" else None)
    if not features.send_back and re.search(r"reasoning_content|reasoning_details|thought_signature", said):
        return replace(features, send_back=True)
    return None
