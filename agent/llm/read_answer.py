"""Reads the body of a chat answer, whatever shape it came in. Pure: a decoded body in, a reply or a trouble out."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from agent.llm.base import ContentRefused, Message, Reply, ToolCall, Usage
from agent.llm.refusals import REFUSED, trouble_of

THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
THOUGHTS_END = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
WANTED_BACK = ("reasoning_content", "reasoning", "reasoning_details")
MOST_TOKENS = 100_000_000


@dataclass(frozen=True)
class Answer:
    """A reply and whether its last part was cut off by the token limit."""

    reply: Reply
    cut: bool


def read_answer(
    body: Any, *, provider: str, model: str, known_ids: Collection[str], messages: Sequence[Message] = ()
) -> Answer:
    """`known_ids`: call ids of earlier turns, which an answer may repeat. `messages`: what was sent. Raises
    ModelTrouble."""
    choice = _first_choice(body, messages)
    message = _mapping(choice.get("message"))
    if message.get("refusal") or _finish(choice) == "content_filter":
        raise ContentRefused(REFUSED, usage=_usage(body.get("usage")))
    reply = Reply(
        text=_text(message.get("content")),
        tool_calls=_calls(message, known_ids),
        usage=_usage(body.get("usage")),
        provider=provider,
        model=_model_name(body.get("model")) or model,
        extras={name: message[name] for name in WANTED_BACK if message.get(name) and _is_sendable(message[name])},
    )
    return Answer(reply, cut=_finish(choice) == "length")


def _first_choice(body: Any, messages: Sequence[Message]) -> dict[str, Any]:
    body = _mapping(body)
    choices = body.get("choices")
    choice = _mapping(choices[0]) if isinstance(choices, list) and choices else {}
    error = choice.get("error") or (body.get("error") if not choice else None)
    if error or not choice:
        raise trouble_of(error, messages)
    return choice


def _finish(choice: dict[str, Any]) -> str:
    return str(choice.get("finish_reason") or "")


def _text(content: Any) -> str:
    if isinstance(content, list):
        content = "".join(str(_mapping(part).get("text") or "") for part in content)
    if not isinstance(content, str):
        return ""
    return _storable(THOUGHTS_END.sub("", THOUGHTS.sub("", content))).strip()


def _calls(message: dict[str, Any], known_ids: Collection[str]) -> tuple[ToolCall, ...]:
    given = message.get("tool_calls")
    entries = [_mapping(entry) for entry in given] if isinstance(given, list) else []
    if not entries and message.get("function_call"):
        entries = [{"function": message["function_call"]}]
    taken = set(known_ids)
    calls = []
    for entry in entries:
        function = _mapping(entry.get("function"))
        call_id = _own_or_new(entry.get("id"), taken)
        taken.add(call_id)
        calls.append(ToolCall(call_id, str(function.get("name") or ""), _as_string(function.get("arguments"))))
    return tuple(calls)


def _own_or_new(call_id: Any, taken: set[str]) -> str:
    """The provider's id if it names one call only; nine letters and digits otherwise, which every provider takes."""
    if isinstance(call_id, str) and call_id and call_id not in taken and _is_sendable(call_id):
        return call_id
    return secrets.token_hex(5)[:9]


def _as_string(arguments: Any) -> str:
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json.dumps(arguments)


def _storable(text: str) -> str:
    """Without half characters and NULs, which neither a request's body nor a database takes."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def _is_sendable(value: Any) -> bool:
    """May it stand in the next call's body? No half characters, no NaN."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, RecursionError):
        return False
    return True


def _usage(usage: Any) -> Usage:
    usage = _mapping(usage)
    return Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))


def _count(value: Any) -> int | None:
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS
    return value if known else None


def _model_name(value: Any) -> str:
    """As the provider names the model that answered, in a form that any database can store."""
    return "".join(char for char in value if char.isprintable())[:120] if isinstance(value, str) else ""


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
