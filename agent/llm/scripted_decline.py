"""How the scripted model words a decline: the team member's reason, kindly, in at most three sentences."""

from __future__ import annotations

from collections.abc import Sequence

from agent.llm.base import Message
from agent.llm.scripted_conversation import facts_in, first_user_text
from agent.prompts.one_sentence import one_sentence


def word(messages: Sequence[Message]) -> str:
    facts = facts_in(first_user_text(messages))
    reason = one_sentence(facts.get("Note", ""))
    because = f" The reason: {reason}." if reason else ""
    return (
        f"Thank you for telling us about your {facts.get('Item', 'item')}; we are sorry that it was not what you hoped "
        f"for. We looked at your request with care and cannot refund it.{because}"
    )
