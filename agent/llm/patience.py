"""Asks a model again after a passing trouble, inside the time of the run."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

from django.conf import settings

from agent.llm.base import ChatModel, Message, Reply, Temporary, ToolSpec

logger = logging.getLogger(__name__)

MAX_WAIT = 20.0


def complete_patiently(
    model: ChatModel,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    deadline: float,
    before_each: Callable[[], None],
) -> Reply:
    """`model.complete`, tried again after each of MODEL_PAUSES_SECONDS. `before_each` runs before each call and wait.

    A wait the provider asks for is kept up to 20 s and while it ends before `deadline`. Raises ModelTrouble.
    """
    for pause in (*settings.MODEL_PAUSES_SECONDS, None):
        before_each()
        try:
            return model.complete(messages, tools, deadline)
        except Temporary as trouble:
            wait = pause if pause is None or trouble.wait is None else max(trouble.wait, 0.0)
            if wait is None or wait > MAX_WAIT or time.monotonic() + wait >= deadline:
                raise
            logger.info("the model %s is asked again in %.1f s: %s", model.model, wait, trouble.sentence)
        before_each()
        time.sleep(wait)
    raise AssertionError("the last try returns or raises")
