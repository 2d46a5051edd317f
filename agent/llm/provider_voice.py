"""What a provider says itself in the body of an error: its codes, the parts of the call it names, and its sentence.

All else there may repeat what a customer or a model wrote (the flagged input, the failed generation): that such a part
is there tells something, its words decide nothing. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agent.llm.base import Message

# Where the next words stand, in the shapes of OpenAI, OpenRouter, FastAPI, Mistral, Azure and Google.
INSIDE = ("error", "message", "msg", "detail", "innererror")
CODES = ("code", "type")
MARKS = ("failed_generation", "flagged_input")
MARKS_OF_METADATA = (*MARKS, "reasons")
MOST_LEVELS = 8
MOST_PARTS = 20
MOST_LETTERS = 1_000
# From here on a sentence repeats what it was given.
REPEATS = re.compile(r"failed_generation|input_value|['\"]input['\"]\s*:|\braw\s*[=:]", re.IGNORECASE)
# A quotation of three words and more is speech, a shorter one the name of something.
QUOTED = re.compile(
    r"(?<!\w)(?:"
    r"\"(?=\S)[^\"\s]+\s[^\"\s]+\s[^\"]*\""
    r"|`(?=\S)[^`\s]+\s[^`\s]+\s[^`]*`"
    r"|'(?=\S)(?:[^'\s]|(?<=\w)'(?=\w))+\s(?:[^'\s]|(?<=\w)'(?=\w))+\s(?:[^']|(?<=\w)'(?=\w))*'"
    r"|[\u201c\u00ab][^\u201d\u00bb]*[\u201d\u00bb]"
    r")(?!\w)"
)
TOKEN = re.compile(r"[a-z0-9_]+")


@dataclass(frozen=True)
class Voice:
    """In lower case: `codes` and `places` (parts of the call, `body.tools.0.function.strict`) one a line, `words` the
    sentences. `marks`: which telling parts the body holds."""

    codes: str = ""
    places: str = ""
    words: str = ""
    marks: frozenset[str] = frozenset()

    @property
    def unquoted(self) -> str:
        return QUOTED.sub(" ", self.words)


def voice_of(body: Any) -> Voice:
    found = list(_parts(body, MOST_LEVELS))

    def all_of(kind: str) -> list[str]:
        return [text.lower() for of, text in found if of == kind]

    codes, places, words = ("\n".join(all_of(kind)) for kind in ("code", "place", "words"))
    return Voice(codes, places, words, frozenset(all_of("mark")))


def is_repeated(stretch: str, messages: Sequence[Message]) -> bool:
    """These words stand in the conversation too, so that the provider may only be quoting it."""
    looked_for = f" {_tokens(stretch)} "
    return any(looked_for in f" {_tokens(text)} " for message in messages for text in texts_in(message))


def texts_in(message: Message) -> Iterator[str]:
    """All that is said in a message, pictures left out."""
    content = message.get("content")
    for part in content if isinstance(content, list) else [{"text": content}]:
        text = part.get("text")
        if isinstance(text, str):
            yield text
    for call in message.get("tool_calls") or ():
        yield f"{call['function']['name']} {call['function']['arguments']}"


def _parts(value: Any, levels: int) -> Iterator[tuple[str, str]]:
    """Pairs of a kind (code, place, words, mark) and a text."""
    if not levels:
        return
    if isinstance(value, str):
        yield from _said(value, levels)
    elif isinstance(value, list):
        for each in value[:MOST_PARTS]:
            yield from _parts(each, levels - 1)
    elif isinstance(value, dict):
        yield from _named(value, levels)


def _named(value: dict[str, Any], levels: int) -> Iterator[tuple[str, str]]:
    for name in CODES:
        if isinstance(value.get(name), str):
            yield "code", value[name][:MOST_LETTERS]
    if isinstance(value.get("param"), str):
        yield "place", value["param"][:MOST_LETTERS]
    if isinstance(value.get("loc"), list):
        yield "place", ".".join(str(part)[:100] for part in value["loc"][:MOST_PARTS])
    yield from (("mark", name) for name in MARKS if value.get(name))
    for name in INSIDE:
        yield from _parts(value.get(name), levels - 1)
    more = value.get("metadata")
    if isinstance(more, dict):  # OpenRouter's: `raw` is what the provider behind it answered
        yield from (("mark", name) for name in MARKS_OF_METADATA if more.get(name))
        yield from _parts(more.get("raw"), levels - 1)


def _said(text: str, levels: int) -> Iterator[tuple[str, str]]:
    """A sentence, or a body that was packed into one."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            packed = json.loads(text)
        except (ValueError, RecursionError):
            packed = None
        if isinstance(packed, dict | list):
            yield from _parts(packed, levels - 1)
            return
    yield "words", REPEATS.split(text[:MOST_LETTERS], maxsplit=1)[0]


def _tokens(text: str) -> str:
    return " ".join(TOKEN.findall(text.lower()))
