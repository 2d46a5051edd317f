"""What may stand in a text a customer reads: no markup, no links, no names of tools, whoever wrote it."""

from __future__ import annotations

import re

# What marks text up, wherever it stands; signs that people use too ("the #4 filter", "5*", "A|B", "AB_12") only where
# they are markup: at a line's start, around words, several in a row, or inside a tool's name.
MARKUP = re.compile(
    r"[<>\[\]{}`]|https?:|www\."
    r"|^[ \t]*#{1,6}[ \t]|#{2,}"
    r"|^[ \t]*[*|]|\*{2,}|(?<!\w)\*\S[^*\n]*\*(?!\w)"
    r"|\|[^|\n]*\|"
    r"|__|(?<!\w)_\w[^_\n]*_(?!\w)|[a-z]_[a-z]",
    re.MULTILINE,
)


def has_markup(text: str) -> bool:
    return bool(MARKUP.search(text))
