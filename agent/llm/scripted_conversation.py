"""What the scripted model makes of a conversation: the case file's facts, the customer's words, the tools' results."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.llm.base import Message

BLOCK = re.compile(r"<customer_text_(?P<nonce>[0-9a-f]+)>\n(?P<text>.*?)\n</customer_text_(?P=nonce)>", re.DOTALL)
FACT = re.compile(r"^(?P<name>[A-Z][A-Za-z ]+): (?P<value>.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Conversation:
    """`facts`: the case file's lines; `customer_texts`: what stands in customer blocks; `results`: by tool name, the
    last one each."""

    facts: dict[str, str] = field(default_factory=dict)
    customer_texts: tuple[str, ...] = ()
    results: dict[str, dict[str, Any]] = field(default_factory=dict)

    def count(self, fact: str) -> int:
        return int(self.facts.get(fact, "0"))

    @property
    def reason(self) -> str:
        return self.facts.get("Reason", "").split(" ", 1)[0]

    @property
    def item(self) -> str:
        """The item's name without its article number."""
        return re.sub(r" \([^()]*\)$", "", self.facts.get("Item", "item"))

    @property
    def sku(self) -> str:
        match = re.search(r"\(([^()]*)\)$", self.facts.get("Item", ""))
        return match[1] if match else ""


def read_conversation(messages: Sequence[Message]) -> Conversation:
    text = first_user_text(messages)
    return Conversation(
        facts_in(BLOCK.sub("", text)), tuple(match["text"] for match in BLOCK.finditer(text)), _results(messages)
    )


def facts_in(text: str) -> dict[str, str]:
    """`Name: value` lines; the first of a name counts, since the case file stands above what people wrote."""
    facts: dict[str, str] = {}
    for match in FACT.finditer(text):
        facts.setdefault(match["name"], match["value"])
    return facts


def first_user_text(messages: Sequence[Message]) -> str:
    for message in messages:
        if message["role"] == "user":
            content = message["content"]
            return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
    return ""


def _results(messages: Sequence[Message]) -> dict[str, dict[str, Any]]:
    names: dict[str, str] = {}
    results: dict[str, dict[str, Any]] = {}
    for message in messages:
        for call in message.get("tool_calls") or ():
            names[call["id"]] = call["function"]["name"]
        if message["role"] == "tool" and message["tool_call_id"] in names:
            results[names[message["tool_call_id"]]] = json.loads(message["content"])
    return results
