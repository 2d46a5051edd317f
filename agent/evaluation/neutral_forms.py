"""What has a form of its own, whatever stands around it: addresses of mail and web, handles, codes, account numbers.

Each pattern starts only where a word starts and repeats without overlap, so a text costs time in proportion to its
length. The first of a kind that fits wins; what it settles is not looked at again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

# Between parts of a number or a code people write anything that is neither letter nor digit.
SEPARATED = r"[\W_]{0,3}"
NO_WORD_BEFORE, NO_WORD_AFTER = r"(?<![^\W_])", r"(?![^\W_])"
AT = r"(?:[@\uff20\ufe6b]|\s{1,2}[@\uff20\ufe6b]\s{1,2}|\s{0,2}[(\[{<]\s?(?:at|a|@|ät)\s?[)\]}>]\s{0,2})"
DOT = r"(?:\.|\s{0,2}[(\[{<]\s?(?:dot|punkt|point|\.)\s?[)\]}>]\s{0,2}|\s(?:dot|punkt|point)\s)"
TOP_LEVEL = r"com|net|org|de|fr|io|eu|ch|info|shop|es|nl|co\.uk|com\.au"
PLATFORMS = r"instagram|insta|ig|tiktok|twitter|facebook|fb|telegram|snapchat|whatsapp|discord|skype"
LEAST_CODE, LEAST_CODE_DIGITS = 8, 2
LEAST_GROUPED_DIGITS = 4

Holds = Callable[[str], bool]


class Form(NamedTuple):
    """`holds` looks at what the pattern found; `kind` is what the page calls it."""

    kind: str
    pattern: re.Pattern[str]
    stand_in: str
    holds: Holds = lambda found: True


def digits_in(text: str) -> int:
    return sum(character.isdigit() for character in text)


def _letters_in(text: str) -> int:
    return sum(character.isalpha() for character in text)


def _has_letter(text: str) -> bool:
    return _letters_in(text) > 0


def _is_mail(text: str) -> bool:
    """ "Two mugs @12.00" is a price: behind the sign stands no letter."""
    return _has_letter(text.rpartition("@")[2])


def _is_code(text: str) -> bool:
    """Letters and digits mixed; of runs with dashes the digits have to be more than a size or a model."""
    least = LEAST_CODE_DIGITS if text.isalnum() else LEAST_GROUPED_DIGITS
    return digits_in(text) + _letters_in(text) >= LEAST_CODE and digits_in(text) >= least and _has_letter(text)


def _is_grouped_code(text: str) -> bool:
    return digits_in(text) + _letters_in(text) >= LEAST_CODE and digits_in(text) >= LEAST_GROUPED_DIGITS


def _is_return_code(text: str) -> bool:
    """After RMA stands a code, not the next word of the sentence."""
    code = text[3:].strip()
    return digits_in(code) > 0 or not code[0].isalpha() or code.isupper()


def _form(kind: str, pattern: str, stand_in: str, holds: Holds = lambda found: True) -> Form:
    return Form(kind, re.compile(pattern, re.IGNORECASE), stand_in, holds)


EMAIL, WEB, HANDLE = "e-mail address", "web address", "name on a social network"
RETURN_CODE, REFUND, REQUEST = "return code", "refund reference", "number of a request"
ACCOUNT, CODE = "bank account number", "code of letters and digits"

WRITTEN = (
    _form(
        EMAIL,
        rf"(?<![\w.+%-])[\w.+%-]{{1,80}}{AT}\w[\w-]{{0,80}}(?:{DOT}\w[\w-]{{0,80}}){{0,6}}",
        "robin.vale@example.com",
        _is_mail,
    ),
    _form(
        EMAIL,
        r"(?<![\w.+%-])[\w.+%-]{1,80}\sat\s\w[\w-]{0,80}(?:\s(?:dot|punkt|point)\s\w[\w-]{0,80})+",
        "robin.vale@example.com",
    ),
    _form(WEB, r"(?:https?://|(?<![\w.])www\.)[^\s<>\"']+", "https://example.com/"),
    _form(WEB, r"(?<![\w.@/-])(?:[\w-]{1,60}\.){1,5}[a-z]{2,20}/[^\s<>\"']+", "https://example.com/"),
    _form(WEB, rf"(?<![\w.@/-])(?:[\w-]{{1,60}}\.){{1,4}}(?:{TOP_LEVEL})(?![\w-]|\.\w)", "example.com", _has_letter),
    _form(HANDLE, r"[@\uff20]\s?\w[\w.-]{0,60}", "@sample", _has_letter),
    _form(HANDLE, rf"(?<!\w)(?:{PLATFORMS}|handle|user ?name)\s{{0,2}}[:=]\s{{0,2}}[\w.-]{{2,60}}", "@sample"),
    _form(HANDLE, rf"(?<!\w)(?:{PLATFORMS})\s(?:is\s)?[^\W_]{{1,40}}[_.\d][\w.-]{{1,60}}", "@sample"),
    _form(RETURN_CODE, rf"{NO_WORD_BEFORE}RMA{SEPARATED}[A-Z0-9]{{4,8}}{NO_WORD_AFTER}", "RMA-AAAAAA", _is_return_code),
    _form(REFUND, r"(?<!\w)(?:re|ch|pi|py|cus|pm|txn)_\w{4,}", "re_0000"),
    _form(REQUEST, r"(?<!\w)#\s?\d{4,6}(?!\w|[^\w\s]\d|\s\d{3}|\s[^\w\s]\s\d)", "#1000"),
    _form(
        REQUEST,
        r"(?<!\w)(?:request|ticket|case|claim|anfrage|vorgang|demande)\s(?:number\s|no\.?\s?|nr\.?\s?|n°\s?)?"
        r"#?\d{4,6}(?![\w.,]*\d)",
        "request #1000",
    ),
    _form(
        ACCOUNT,
        rf"{NO_WORD_BEFORE}[A-Z]{{2}}\d{{2}}(?:{SEPARATED}[A-Z]{{4}})?(?:{SEPARATED}\d){{8,30}}"
        rf"(?:{SEPARATED}[A-Z]?\d){{0,12}}{NO_WORD_AFTER}",
        "XX00000000000000",
    ),
)

# After dates, prices and sizes are settled: what is left of letters and digits is nobody's business.
GROUP = r"(?=[A-Z]{0,8}\d|[A-Z]{1,2}(?![A-Z0-9]))[A-Z0-9]{1,9}(?![A-Za-z0-9])"
CODES = (
    Form(
        CODE,
        re.compile(rf"{NO_WORD_BEFORE}{GROUP}(?:[ \u00a0\-\u2010-\u2015_./]{GROUP}){{1,11}}(?:{SEPARATED}\d){{0,20}}"),
        "REF-0000",
        lambda found: _has_letter(found) and _is_grouped_code(found),
    ),
    _form(CODE, r"(?<![\w\-\u2010-\u2015])\w{1,40}(?:[\-\u2010-\u2015]\w{1,40}){0,8}(?![\w])", "REF-0000", _is_code),
    _form(CODE, rf"{NO_WORD_BEFORE}[^\W_]{{8,80}}{NO_WORD_AFTER}", "REF-0000", _is_code),
)
