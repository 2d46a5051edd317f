"""The one protocol every model provider speaks, and what can go wrong with a call.

Messages are plain dicts in the shape of OpenAI chat: roles `system`, `user`, `assistant` (with `tool_calls`, each with
arguments as a string of valid JSON) and `tool` (with `tool_call_id`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Message = dict[str, Any]


@dataclass(frozen=True)
class ToolSpec:
    """A tool as a model is told about it; `parameters` is a strict JSON schema of an object."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True)
class ToolCall:
    """One call a model asks for. `arguments` is what it wrote, unread: a string that should hold a JSON object."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Usage:
    """Tokens of one call and their cost in millionths of a US dollar; None: nobody knows.

    `guessed_tokens` and `guessed_micro` stand for what nobody knows where limits are looked at, and nowhere else.
    """

    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_micro: int | None = None
    guessed_tokens: int = field(default=0, compare=False)
    guessed_micro: int = field(default=0, compare=False)

    def __add__(self, other: Usage) -> Usage:
        """A sum with an unknown part is unknown."""
        return Usage(
            _sum(self.tokens_in, other.tokens_in),
            _sum(self.tokens_out, other.tokens_out),
            _sum(self.cost_micro, other.cost_micro),
            self.guessed_tokens + other.guessed_tokens,
            self.guessed_micro + other.guessed_micro,
        )


NO_USAGE = Usage(0, 0, 0)
UNKNOWN_USAGE = Usage()


@dataclass(frozen=True)
class Skipped:
    """A provider that did not give the answer, and why: a sentence for staff."""

    provider: str
    why: str


@dataclass(frozen=True)
class Reply:
    """One answer. `text` is free of hidden thoughts; `extras` are provider fields some want back with the next call;
    `skipped` are the providers that were passed over for it, `duration_ms` how long all of it took."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    provider: str = ""
    model: str = ""
    extras: dict[str, Any] = field(default_factory=dict)
    skipped: tuple[Skipped, ...] = ()
    duration_ms: int = 0


@dataclass(frozen=True)
class Watch:
    """Over the calls that one answer takes of its provider: `after` is told what each used, `before_another` runs
    before each but the first and may raise, so that no call is made past a limit."""

    after: Callable[[Usage], None]
    before_another: Callable[[], None]


UNWATCHED = Watch(after=lambda usage: None, before_another=lambda: None)


class ChatModel(Protocol):
    """`provider` and `model` name it for the run's record."""

    @property
    def provider(self) -> str: ...

    @property
    def model(self) -> str: ...

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], deadline: float) -> Reply:
        """One call of at most CALL_MAX_SECONDS that ends before `deadline`, a moment of `time.monotonic()`.

        Raises ModelTrouble.
        """


class ModelTrouble(Exception):
    """A call gave no usable answer. `sentence` is for staff and holds nothing the provider wrote.

    `usage`: what the call cost all the same; `skipped`: who else could not answer, and why.
    """

    def __init__(self, sentence: str, *, usage: Usage = NO_USAGE) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.usage = usage
        self.skipped: tuple[Skipped, ...] = ()


class Temporary(ModelTrouble):
    """Worth another try; after `wait` seconds when the provider named a time."""

    def __init__(self, sentence: str, *, wait: float | None = None, usage: Usage = NO_USAGE) -> None:
        super().__init__(sentence, usage=usage)
        self.wait = wait


class KeyRefused(ModelTrouble):
    """The key, or the account behind it, is not accepted; the same call will not work again."""


class ContentRefused(ModelTrouble):
    """The model or a filter refuses this content; asking again would be arguing with it."""


class BadRequest(ModelTrouble):
    """The provider does not take the call as it is."""


class NotFound(BadRequest):
    """The provider knows no such model or address, whoever asks for what."""


class CutOff(ModelTrouble):
    """The answer was longer than the model may write, also with a larger limit."""


class NoEyes(ModelTrouble):
    """The model does not take pictures."""


class UsedUp(ModelTrouble):
    """The provider's tokens of the day are used; the next one may be asked."""


class LimitReached(ModelTrouble):
    """A limit of the run or of the customer's day is used up: no model is asked any more."""


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
