"""What an error status of a chat endpoint means. The sentences hold nothing the provider wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agent.llm.base import BadRequest, ContentRefused, KeyRefused, ModelTrouble, NotFound, Temporary
from agent.llm.read_answer import REFUSED
from agent.llm.waits import asked_wait

CONTENT_WORDS = ("content_filter", "content_policy", "responsibleai", "moderation", "flagged")
KEY_STATUSES = {
    401: "The model's provider does not accept the key.",
    402: "The account at the model's provider has no credit left.",
    403: "The model's provider does not let this key use the model.",
}
TRANSIENT_STATUSES = (408, 409, 425, 429)
NOT_FOUND_STATUSES = (404, 405)


def trouble_of_status(status: int, headers: Mapping[str, str], body: Any, now: float) -> ModelTrouble:
    """`now` in epoch seconds, for waits that are given as a moment."""
    if status in TRANSIENT_STATUSES or status >= 500:
        sentence = f"The model's provider is busy or out of order (status {status})."
        return Temporary(sentence, wait=asked_wait(headers, body, now))
    if status in (400, 403) and any(word in json.dumps(body).lower() for word in CONTENT_WORDS):
        return ContentRefused(REFUSED)
    if status in KEY_STATUSES:
        return KeyRefused(KEY_STATUSES[status])
    kind = NotFound if status in NOT_FOUND_STATUSES else BadRequest
    return kind(f"The model's provider did not take the call (status {status}).")


def is_unreadable_call(status: int, body: Any) -> bool:
    """The provider could not read the call its model wrote; what the model wrote is never run."""
    return status == 400 and "tool_use_failed" in json.dumps(body)
