"""Any OpenAI-compatible chat endpoint, through the `openai` SDK: one call at a time, without streaming.

The SDK's own retries and parsing are off: time-outs, retries and the reading of odd answers are ours. Features that a
model refuses (strict schemas, parallel calls, ...) are left out of the same call's next attempt, and for an hour.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import httpx2
from django.conf import settings
from openai import APIConnectionError, APIStatusError, APITimeoutError, AsyncOpenAI, DefaultAsyncHttpxClient

from agent.llm.base import (
    NO_USAGE,
    UNKNOWN_USAGE,
    UNWATCHED,
    ContentRefused,
    CutOff,
    KeyRefused,
    Message,
    ModelTrouble,
    NoEyes,
    Reply,
    Temporary,
    ToolSpec,
    Watch,
)
from agent.llm.bounded_transport import BoundedTransport
from agent.llm.features import DEFAULTS, Features, Sent, refused_feature
from agent.llm.payload import MAX_TOKENS, holds_pictures, known_ids, payload_for
from agent.llm.provider_voice import voice_of
from agent.llm.providers_now import provider_name
from agent.llm.read_answer import Answer, read_answer
from agent.llm.refusals import NO_ANSWER, is_unreadable_call, trouble_of_status

logger = logging.getLogger(__name__)

NO_EYES = "The model does not take pictures."
UNUSABLE = "The address or the key of the model's provider cannot be used."
NO_TIME = "The model's provider did not answer in time."
LARGER = 4
LOOP_GRACE_SECONDS = 5
MAX_ATTEMPTS = 8
MOST_LEVELS = 100
# One odd refusal must not cost a feature for as long as the process lives: then all are tried once more.
REMEMBERED_SECONDS = 3600
NO_CREDIT = 402


@dataclass(frozen=True)
class Learned:
    """`at`: when the first of the features was refused, a moment of `time.monotonic()`."""

    features: Features
    at: float


# What is known about each (base URL, model).
_features: dict[tuple[str, str], Learned] = {}
# Two runs that make the first calls of a process together must not make two loops: a client belongs to one.
_making = threading.Lock()


@dataclass(frozen=True)
class HttpAnswer:
    status: int
    headers: Mapping[str, str]
    body: Any


class OpenAIChat:
    """`model` behind `base_url` with `api_key`. `provider` names it for the record; by its host when empty.

    `timeout_seconds` bounds one call; CALL_MAX_SECONDS does in any case.
    """

    def __init__(
        self, base_url: str, api_key: str, model: str, *, provider: str = "", timeout_seconds: float | None = None
    ) -> None:
        self.base_url = base_url
        self.model = model
        self.provider = provider or provider_name(base_url)
        self._api_key = api_key
        self._timeout_seconds = timeout_seconds

    def complete(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], deadline: float, watch: Watch = UNWATCHED
    ) -> Reply:
        """One answer within its time-out and before `deadline`, attempts without a refused feature included.

        `watch` sees each of them; the reply's usage, or the trouble's, is that of all.
        """
        end = min(deadline, time.monotonic() + min(self._timeout_seconds or math.inf, settings.CALL_MAX_SECONDS))
        max_tokens, cut_at, spent = MAX_TOKENS, 0, NO_USAGE
        has_pictures = holds_pictures(messages)
        for attempt in range(MAX_ATTEMPTS):
            features = self._features()
            if has_pictures and not features.pictures:
                raise NoEyes(NO_EYES, usage=spent)
            limit = features.limit(max_tokens)
            if limit <= cut_at:
                raise CutOff("The model's answer was cut off, and it may not write more.", usage=spent)
            if attempt:
                watch.before_another()
            try:
                answer = self._attempt(messages, tools, features, limit, end)
            except ModelTrouble as trouble:
                watch.after(trouble.usage)
                trouble.usage = spent + trouble.usage
                raise
            used = answer.reply.usage if answer else NO_USAGE
            watch.after(used)
            spent = spent + used
            if answer is None:
                continue
            if not (answer.cut and _is_broken(answer.reply)):
                return replace(answer.reply, usage=spent)
            if max_tokens > MAX_TOKENS:
                raise CutOff("The model's answer was cut off twice.", usage=spent)
            cut_at, max_tokens = limit, max_tokens * LARGER
        raise Temporary(NO_ANSWER, usage=spent)

    def _attempt(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], features: Features, limit: int, end: float
    ) -> Answer | None:
        """One call of the provider. None: it refuses a feature, which the next attempt leaves out."""
        answer = self._post(payload_for(self.model, messages, tools, features, limit), end)
        if answer.status < 400:
            return read_answer(
                answer.body,
                provider=self.provider,
                model=self.model,
                known_ids=known_ids(messages),
                messages=messages,
            )
        if is_unreadable_call(answer.status, answer.body):
            return Answer(Reply(text="", provider=self.provider, model=self.model), cut=False)
        trouble = trouble_of_status(answer.status, answer.headers, answer.body, epoch_seconds(), messages)
        sent = Sent(messages, len(tools), holds_pictures(messages), limit)
        refused = refused_feature(answer.status, voice_of(answer.body), features, sent)
        if refused is None or isinstance(trouble, ContentRefused):
            raise self._told(trouble, answer.status, limit)
        logger.info("%s on %s refuses a feature, going on with %s", self.model, self.provider, refused)
        self._learn(refused)
        return None

    def _features(self) -> Features:
        known = self._learned()
        return known.features if known else DEFAULTS

    def _learn(self, features: Features) -> None:
        known = self._learned()
        at = known.at if known else time.monotonic()
        _features[(self.base_url, self.model)] = Learned(features, at)

    def _learned(self) -> Learned | None:
        known = _features.get((self.base_url, self.model))
        return known if known and time.monotonic() < known.at + REMEMBERED_SECONDS else None

    def _told(self, trouble: ModelTrouble, status: int, limit: int) -> ModelTrouble:
        """The trouble, told to the log. A credit too small for a longer answer says nothing of the next call."""
        if status == NO_CREDIT and limit > MAX_TOKENS:
            trouble = CutOff("The model's answer was cut off, and the credit is too small for a longer one.")
        if not isinstance(trouble, KeyRefused):  # that is told once for each key, by whoever notes it
            logger.warning("the model's provider %s answered %s to %s", self.provider, status, self.model)
        return trouble

    def _post(self, payload: dict[str, Any], end: float) -> HttpAnswer:
        seconds = end - time.monotonic()
        if seconds <= 0:
            raise Temporary(NO_TIME)
        try:
            client = _client(self.base_url, self._api_key)
        except (httpx2.InvalidURL, ValueError):
            raise Temporary(UNUSABLE) from None
        call = _send(client, payload, seconds)
        coming = asyncio.run_coroutine_threadsafe(call, _loop())
        try:
            return coming.result(timeout=seconds + LOOP_GRACE_SECONDS)
        except TimeoutError:  # the loop itself stands still; the run must not
            coming.cancel()  # a call nobody waits for any more would be paid and never counted
            raise Temporary(NO_TIME, usage=UNKNOWN_USAGE) from None


async def _send(client: AsyncOpenAI, payload: dict[str, Any], seconds: float) -> HttpAnswer:
    """The SDK's time-outs are between two bytes; the outer one bounds the whole call."""
    try:
        async with asyncio.timeout(seconds):
            raw = await client.chat.completions.with_raw_response.create(**payload, timeout=seconds)
            return _decoded(raw.http_response)
    except APIStatusError as error:
        return _decoded(error.response)
    except (TimeoutError, APITimeoutError):  # the model may have worked and be paid for it
        raise Temporary(NO_TIME, usage=UNKNOWN_USAGE) from None
    except APIConnectionError as error:
        logger.warning("the model's provider cannot be reached: %s", type(error.__cause__ or error).__name__)
        raise Temporary("The model's provider could not be reached.") from None
    except (httpx2.InvalidURL, UnicodeError, OverflowError, ExceptionGroup) as error:
        logger.warning("the address or the key of a model's provider cannot be used: %s", type(error).__name__)
        raise Temporary(UNUSABLE) from None


def _decoded(response: Any) -> HttpAnswer:
    """A body nested deeper than any answer is unreadable: what reads it later does so in deeper stacks than this."""
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError):
        body = None
    return HttpAnswer(response.status_code, dict(response.headers), body if _is_flat(body) else None)


def _is_flat(body: Any) -> bool:
    """At most MOST_LEVELS lists and objects inside one another, counted level by level."""
    level = [body]
    for _ in range(MOST_LEVELS):
        level = [inner for value in level for inner in _inside(value)]
        if not level:
            return True
    return not any(isinstance(value, dict | list) for value in level)


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _is_broken(reply: Reply) -> bool:
    """Nothing usable in it: a call whose arguments stop in the middle, or no call at all."""
    if not reply.tool_calls:
        return True
    return not all(_is_json(call.arguments) for call in reply.tool_calls)


def _is_json(text: str) -> bool:
    try:
        json.loads(text or "{}")
    except (ValueError, RecursionError):
        return False
    return True


def epoch_seconds() -> float:
    """The clock that providers' moments are measured against."""
    return time.time()


def _client(base_url: str, api_key: str) -> AsyncOpenAI:
    with _making:
        return _client_of(base_url, api_key)


def _loop() -> asyncio.AbstractEventLoop:
    with _making:
        return _loop_of_this_process()


@cache
def _client_of(base_url: str, api_key: str) -> AsyncOpenAI:
    """A local server without a key is sent a word instead: the SDK wants one."""
    way = DefaultAsyncHttpxClient(transport=BoundedTransport())
    return AsyncOpenAI(base_url=base_url, api_key=api_key or "none", max_retries=0, http_client=way)


@cache
def _loop_of_this_process() -> asyncio.AbstractEventLoop:
    """One loop per process, kept for its life, so that connections to the provider can be used again."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="model-calls", daemon=True).start()
    return loop
