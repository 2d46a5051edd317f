"""A number that a command is given: bad ones are told by the command line like every other wrong argument."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable

MOST_DIGITS = 18


def up_to(most: int) -> Callable[[str], int]:
    """Reads a whole number from 1 to `most`, for `add_argument(type=...)`. Raises ArgumentTypeError."""

    def read(text: str) -> int:
        if not text.isdecimal() or len(text) > MOST_DIGITS or not 1 <= int(text) <= most:
            raise ArgumentTypeError(f"must be a whole number from 1 to {most:,}, not {text[:40]!r}")
        return int(text)

    return read
