"""Reads what a customer typed: same line ends everywhere, nothing a database cannot hold, never too long."""

from __future__ import annotations

import unicodedata

from intake.refusals import Refusal

# Controls, marks that only steer (as for direction) or join, and every blank.
UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})


def read_text(typed: str, *, limit: int, field: str, when_empty: str) -> str:
    """The text without the blanks around it. Raises Refusal invalid_input when it is empty or above `limit`."""
    text = _storable(typed).strip()
    if shows_nothing(text):
        raise Refusal("invalid_input", when_empty, field=field)
    if len(text) > limit:
        sentence = f"Use at most {limit:,} characters; your text has {len(text):,}."
        raise Refusal("invalid_input", sentence, field=field)
    return text


def shows_nothing(typed: str) -> bool:
    """Whether nobody could read anything in it, as in an empty text."""
    return all(unicodedata.category(character) in UNSEEN_CATEGORIES for character in typed)


def is_storable(typed: str) -> bool:
    """False for a text with NUL or lone surrogates, which names nothing that exists."""
    return _storable(typed) == typed


def one_line_end(typed: str) -> str:
    """Every line break as one character, as the browser's counter counts it."""
    return typed.replace("\r\n", "\n").replace("\r", "\n")


def _storable(typed: str) -> str:
    return one_line_end(typed).replace("\x00", "").encode("utf-8", "ignore").decode("utf-8")
