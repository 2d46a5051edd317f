"""A deterministic model that needs no key: it reads the messages and tool results a real one would, no more."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

from agent.llm.base import NO_USAGE, Message, Reply, Temporary, ToolCall, ToolSpec
from agent.llm.scripted_conversation import read_conversation
from agent.llm.scripted_decline import word
from agent.llm.scripted_eyes import look
from agent.llm.scripted_review import next_call

PROVIDER = "scripted"
REPORT_TOOL = "report_photos"


class ScriptedModel:
    """Answers at once, or after `delay_seconds`, so that a demo can be watched."""

    provider = PROVIDER
    model = "scripted model"

    def __init__(self, *, delay_seconds: float = 0.0) -> None:
        self.delay_seconds = delay_seconds

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], deadline: float) -> Reply:
        """Like any model: raises Temporary when its delay would pass the deadline."""
        self._think(deadline)
        names = {tool.name for tool in tools}
        if not names:
            return self._reply(word(messages))
        if REPORT_TOOL in names:
            name, arguments = REPORT_TOOL, look(messages)
        else:
            name, arguments = next_call(read_conversation(messages), may_refund="issue_refund" in names)
        return self._reply("", ToolCall(f"call_{len(messages)}", name, json.dumps(arguments)))

    def _think(self, deadline: float) -> None:
        if self.delay_seconds <= 0:
            return
        if time.monotonic() + self.delay_seconds >= deadline:
            raise Temporary("The scripted model is set to think longer than a review may take.")
        time.sleep(self.delay_seconds)

    def _reply(self, text: str, *calls: ToolCall) -> Reply:
        return Reply(text=text, tool_calls=calls, usage=NO_USAGE, provider=self.provider, model=self.model)
