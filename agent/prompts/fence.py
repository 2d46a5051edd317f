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

# Letters and brackets of other scripts that pass for ASCII ones; what NFKD folds by itself is not listed.
LOOK_ALIKES = str.maketrans(
    "\u0430\u0435\u0451\u0456\u0457\u0458\u043e\u0440\u0441\u0443\u0445\u0455\u0501\u051b\u04bb\u043c\u0442\u043d\u043a\u0432\u0433"
    "\u03b1\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u0261\u0131\u1d0f\u217c"
    "\u2039\u203a\u276e\u276f\u2329\u232a\u3008\u3009\u300a\u300b\u27e8\u27e9\u02c2\u02c3\u1438\u1433\u00ab\u00bb\u2264\u2265\u2044\u2215\u29f8\u2018\u2019",
    "aeeiijopcyxsdqhmthkbraeikvoptuxgiol<><><><><><><><><><>///''",
)
ANGLE = r"(?:<|&lt;?|&#0*60;?|&#x0*3c;?|\\u003c|%3c)"
MARKS = re.compile(
    rf"{ANGLE}[\s/\\]*customer[\W_]*text[^<>\n]{{0,40}}>?"
    rf"|{ANGLE}[\s/\\]*(?:system|assistant|developer|user|tool|request|case_file|instructions?)\b[^<>\n]{{0,40}}>"
    r"|<\s*\|[^|<>\n]{0,40}\|\s*>|\[\s*/?\s*inst\s*\]|<\s*<\s*/?\s*sys\s*>\s*>|<\s*/?\s*s\s*>"
)


def new_nonce() -> str:
    return secrets.token_hex(6)


def fenced(text: str, nonce: str) -> str:
    """`text` as exactly one block of customer text."""
    return f"<customer_text_{nonce}>\n{without_marks(text)}\n</customer_text_{nonce}>"


def without_marks(text: str) -> str:
    """The copy a prompt may hold: no invisible characters and nothing that could pass for a mark."""
    visible = "".join(char for char in text if not _is_invisible(char))
    folded, origins = _folded(visible)
    pieces, end = [], 0
    for match in MARKS.finditer(folded):
        start = origins[match.start()]
        pieces += [visible[end:start], REMOVED]
        end = origins[match.end() - 1] + 1
    return "".join([*pieces, visible[end:]])


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
            if unicodedata.combining(part) == 0 and part not in BLANKS and not _is_invisible(part):
                folded.append(part)
                origins.append(position)
    return "".join(folded), origins


def _is_invisible(char: str) -> bool:
    if char in "\n\t":
        return False
    return unicodedata.category(char) in ("Cf", "Cc", "Co", "Cs") or char in BLANKS or "\ufe00" <= char <= "\ufe0f"
