"""A text of which pieces are settled: each is one character that no pattern takes for a letter, a digit or a space."""

from __future__ import annotations

import re
from collections.abc import Callable

FIRST, LAST = "\U00100000", "\U0010fffd"
SETTLED = re.compile(f"[{FIRST}-{LAST}]")
MOST_PIECES = ord(LAST) - ord(FIRST)

Rewrite = Callable[[re.Match[str]], str | None]


class MaskedText:
    """`text`: what is still to be looked at, with one character for each settled piece."""

    def __init__(self, text: str) -> None:
        self._pieces: list[str] = []
        self.text = SETTLED.sub("\ufffd", text)  # of no script: nobody can read it

    def settle(self, pattern: re.Pattern[str], rewrite: Rewrite) -> None:
        """Each match becomes what `rewrite` gives, for good; None leaves it to the patterns that follow."""
        self.text = pattern.sub(lambda found: self._settled_or_same(found[0], rewrite(found)), self.text)

    def settle_spans(self, spans: list[tuple[int, int, str]]) -> None:
        """Each (start, end, new) of `text`, in order and without overlaps."""
        pieces, end = [], 0
        for start, stop, new in spans:
            pieces += [self.text[end:start], self._settle(new)]
            end = stop
        self.text = "".join([*pieces, self.text[end:]])

    def whole(self) -> str:
        return self._put_back(self.text)

    def _put_back(self, text: str) -> str:
        return SETTLED.sub(lambda found: self._pieces[ord(found[0]) - ord(FIRST)], text)

    def _settled_or_same(self, old: str, new: str | None) -> str:
        return old if new is None else self._settle(new)

    def _settle(self, piece: str) -> str:
        """A piece may hold settled ones: they are put back first. A text with too many is cut to a full stop."""
        if len(self._pieces) > MOST_PIECES:
            return "."
        self._pieces.append(self._put_back(piece))
        return chr(ord(FIRST) + len(self._pieces) - 1)
