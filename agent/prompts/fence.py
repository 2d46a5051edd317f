"""Puts customer text between marks that the text itself cannot close. Only the prompt's copy is changed, never a row.

A mark carries a nonce made for one run, so it cannot be guessed; whatever looks like a mark (any case, spacing,
look-alike letters, invisible characters) or like a model's own control tokens is taken out of the copy.
"""

from __future__ import annotations

import re
import secrets
import unicodedata

REMOVED = "[mark removed]"
BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
SELECTORS = frozenset([*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)])

# Letters and brackets of other scripts that pass for ASCII ones; what NFKD folds by itself is not listed.
OPENING = "\u2039\u276e\u2329\u3008\u300a\u27e8\u27ea\u276c\u2770\u226a\u22d6\u02c2\u02f1\u1438\u16b2\u00ab\u2264"
CLOSING = "\u203a\u276f\u232a\u3009\u300b\u27e9\u27eb\u276d\u2771\u226b\u22d7\u02c3\u02f2\u1433\u00bb\u2265"
LOOK_ALIKES: dict[int, str | int] = {
    **str.maketrans(
        "\u0430\u0435\u0451\u0456\u0457\u0458\u043e\u0440\u0441\u0443\u0445\u0455\u0501\u051b\u04bb\u043c\u0442\u043d\u043a\u0432\u0433"
        "\u03b1\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c2\u03c4\u03c5\u03c7\u0261\u0131\u217c\u0585\u057d\u00f8"
        "\u1d04\u1d07\u1d0d\u1d0f\u1d1b\u1d1c\u1d20\u0280\ua731",
        "aeeiijopcyxsdqhmthkbraeikvopctuxgilouocemotuvrs",
    ),
    **dict.fromkeys(map(ord, OPENING), "<"),
    **dict.fromkeys(map(ord, CLOSING), ">"),
    **dict.fromkeys(map(ord, "\u2044\u2215\u29f8\u2571"), "/"),
    **dict.fromkeys(map(ord, "\u2018\u2019"), "'"),
}

ANGLE = r"(?:<|&(?:amp;)*lt;?|&#0*60;?|&#x0*3c;?|\\u003c|%3c)"
ANGLE_END = r"(?:>|&(?:amp;)*gt;?|&#0*62;?|&#x0*3e;?|\\u003e|%3e)"
GAP = r"[\W_]*"
OUR_NAME = GAP.join(["c", "u", "s", "t", "[o0]", "m", "[e3]", "r", "t", "[e3]", "x", "t"])
OTHER_NAMES = (
    r"system|assistant|developer|user|human|tool|function|request|case_?file|instructions?|think(?:ing)?|invoke|"
    r"(?:start|end)_of_turn|bos|eos|pad"
)
MARKS = re.compile(
    rf"(?:{ANGLE}[\s/\\]*|[\[({{]\s*/\s*){OUR_NAME}[^<>\n]{{0,40}}>?"
    r"|customer_text\w*"
    rf"|{ANGLE}[\s/\\]*(?:{OTHER_NAMES})(?![a-z0-9])[^<>]{{0,80}}?{ANGLE_END}"
    r"|<\s*\|[^|<>\n]{0,40}\|\s*>|<\s*<\s*/?\s*sys\s*>\s*>|<\s*/?\s*s\s*>"
    r"|\[\s*/?\s*(?:inst|tool_calls|tool_results|available_tools|system_prompt)\s*\]"
)


def new_nonce() -> str:
    return secrets.token_hex(6)


def fenced(text: str, nonce: str) -> str:
    """`text` as exactly one block of customer text."""
    return f"<customer_text_{nonce}>\n{without_marks(text)}\n</customer_text_{nonce}>"


def one_line(text: str) -> str:
    """A name or a note as one line of a case file, which cannot begin another line nor pass for a mark."""
    return " ".join(without_marks(text).split())


def visible(text: str) -> str:
    """`text` without what nobody sees: control, direction and joining characters, half characters, selectors."""
    return "".join(char for char in text if not _is_invisible(char))


def without_marks(text: str) -> str:
    """The copy a prompt may hold: no invisible characters and nothing that could pass for a mark."""
    seen = visible(text)
    folded, origins = _folded(seen)
    pieces, end = [], 0
    for match in MARKS.finditer(folded):
        start = origins[match.start()]
        pieces += [seen[end:start], REMOVED]
        end = origins[match.end() - 1] + 1
    return "".join([*pieces, seen[end:]])


def skeleton(text: str) -> str:
    """`text` as an eye reads it: lower case, look-alike letters as ASCII, no accents, nothing invisible."""
    return _folded(text)[0]


def _folded(text: str) -> tuple[str, list[int]]:
    """The skeleton, and for each of its characters the position in `text` it came from."""
    folded: list[str] = []
    origins: list[int] = []
    for position, char in enumerate(text):
        if _is_invisible(char):
            continue
        for part in unicodedata.normalize("NFKD", char).translate(LOOK_ALIKES).casefold().translate(LOOK_ALIKES):
            if _is_read(part):
                folded.append(part)
                origins.append(position)
    return "".join(folded), origins


def _is_read(char: str) -> bool:
    """Neither an accent nor anything that has no shape of its own."""
    return not _is_invisible(char) and unicodedata.category(char)[0] != "M" and unicodedata.category(char) != "Cn"


def _is_invisible(char: str) -> bool:
    if char in "\n\t":
        return False
    return unicodedata.category(char) in ("Cf", "Cc", "Co", "Cs") or char in BLANKS or ord(char) in SELECTORS
