"""Makes one sentence of a team member's note, so that a message keeps to its three."""

from __future__ import annotations

import re

SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\S)")
# Words that begin a sentence and are written small inside one; a name keeps its capital.
STARTER = re.compile(
    r"(?:An?|And|As|Because|But|For|He|However|If|In|It|No|Not|On|Our|Please|She|Since|So|That|The|There|These|They|"
    r"This|Those|We|When|Your?)\b"
)


def one_sentence(note: str) -> str:
    """`The lid is whole. We saw no dent!` -> `the lid is whole; we saw no dent`."""
    parts = (part.strip().rstrip(".!? ") for part in SENTENCE_END.split(" ".join(note.split())))
    return "; ".join(_small(part) for part in parts if part)


def _small(part: str) -> str:
    starter = STARTER.match(part)
    return part[: starter.end()].lower() + part[starter.end() :] if starter else part
