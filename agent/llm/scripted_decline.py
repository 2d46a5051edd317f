"""How the scripted model words a decline: the team member's reason, kindly, in at most three sentences."""

from __future__ import annotations

from collections.abc import Sequence

from agent.llm.base import Message
from agent.llm.scripted_conversation import facts_in, first_user_text


def word(messages: Sequence[Message]) -> str:
    facts = facts_in(first_user_text(messages))
    item, note = facts.get("Item", "item"), facts.get("Note", "").strip().rstrip(".!? ")
    reason = f" The reason is this: {note}." if note else ""
    return (
        f"Thank you for telling us about your {item}; we are sorry that it was not what you hoped for. "
        f"We looked at your request with care and cannot refund it.{reason}"
    )
