"""Numbers: which say nothing of a person (prices, sizes, times, dates near the case) and which are replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent.evaluation.masked_text import FIRST, LAST
from agent.evaluation.neutral_forms import digits_in

LEAST_DIGITS, LEAST_CARD_DIGITS, MOST_CARD_DIGITS = 7, 13, 19
LEAST_AFTER_PHONE_WORD = 5
CARD, PHONE, FAR_DATE = "card number", "phone or other long number", "date far from the case"
YEARS_BEFORE, YEARS_AFTER = 3, 1
DATE_STAND_IN = "01/01/2000"

ALONE_BEFORE, ALONE_AFTER = r"(?<![\w.,/+])(?<!\w-)(?<!\d[\W_])", r"(?!\d|[^\w\s]{1,2}\d)"
NOT_IN_A_NUMBER = rf"{ALONE_BEFORE}(?<!\d[\W_]{{2}})(?<!\d[\W_]{{3}})"
MONTHS = (
    r"(?:jan(?:uary|uar|vier)?|feb(?:ruary|ruar)?|f[ée]vr(?:ier)?|mar(?:ch|s)?|m[äa]rz|apr(?:il)?|avril|may|mai|june?|juni|juin|"
    r"july?|juli|juillet|aug(?:ust)?|ao[ûu]t|sep(?:t(?:ember|embre)?)?|o[ck]t(?:ober|obre)?|nov(?:ember|embre)?|"
    r"de[cz](?:ember)?|d[ée]c(?:embre)?)\b\.?"
)
YEAR = r"(?P<year>(?:18|19|20|21)\d{2})"
BORN_IN = r"(?:born|geboren|née?)\s(?:in\s|en\s)?"
DAY, MONTH = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
DATES = (
    re.compile(rf"(?<!\w){BORN_IN}{YEAR}(?!\d|[\-/.]\d)", re.IGNORECASE),
    re.compile(rf"(?<!\d)(?<!\d[\-/.]){YEAR}([-/.]){MONTH}\2{DAY}(?!\d|[\-/]\d)"),
    re.compile(rf"(?<!\d)(?<!\d[\-/.]){DAY}([-/.])\s?{DAY}\1\s?{YEAR}(?!\d|[\-/]\d)"),
    re.compile(rf"(?<!\d)(?<!\d[\-/.]){DAY}([-/.]){DAY}\1(?P<short>\d{{2}})(?!\d|[\-/.]\d)"),
    re.compile(rf"(?<!\w)(?:{DAY}(?:st|nd|rd|th|er|\.)?\s(?:of\s)?)?{MONTHS},?\s{YEAR}(?!\d)", re.IGNORECASE),
    re.compile(rf"(?<!\w){MONTHS}\s{DAY}(?:st|nd|rd|th)?,?\s{YEAR}(?!\d)", re.IGNORECASE),
)
BORN = re.compile(
    r"(?<!\w)(?:born|birth(?:day|date)?|dob|geboren|geburtstag|née?|naissance)\b[^\d\n]{0,20}$", re.IGNORECASE
)

AMOUNT = r"(?:\d{1,3}(?:[,.'’]\d{3}){1,3}|\d{1,7})(?:[.,]\d{1,2})?"
CURRENCY = r"(?:USD|EUR|GBP|CHF|JPY|CAD|AUD|euros?|dollars?|cents?|pounds?|bucks|yen)(?![^\W\d_])"
UNITS = (
    r"(?:ml|cl|dl|l|oz|lbs?|g|gr|kg|mg|mm|cm|m|km|in|inch(?:es)?|ft|w|kw|v|mah|hz|bar|°\s?[cf]?|%|pct|percent|days?|weeks?|months?|"
    r"years?|hours?|minutes?|mins?|seconds?|times?|units?|pieces?|pcs|cups?|filters?|mugs?|stück|tage?n?|jours?|x)"
)
READABLE = (
    re.compile(rf"(?:(?<!\d)(?<!\d )[$€£¥]\s?|(?<!\w){CURRENCY}\s?){AMOUNT}{ALONE_AFTER}", re.IGNORECASE),
    re.compile(rf"{ALONE_BEFORE}(?<!\d[\W_]{{3}}){AMOUNT}\s?(?:[$€£¥]|{CURRENCY})", re.IGNORECASE),
    re.compile(rf"{ALONE_BEFORE}(?!0\d)(?:\d{{1,3}}(?:,\d{{3}}){{1,3}}|\d{{1,6}})\.\d{{2}}{ALONE_AFTER}"),
    re.compile(rf"{ALONE_BEFORE}(?!0\d)(?:\d{{1,3}}(?:\.\d{{3}}){{1,3}}|\d{{1,6}}),\d{{2}}{ALONE_AFTER}"),
    re.compile(r"(?<![\w.,\-/+:])(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?![:\d]|[.\-/]\d)"),
    re.compile(
        rf"{NOT_IN_A_NUMBER}\d{{1,4}}(?:[.,]\d{{1,2}})?(?:\s?[x×*]\s?\d{{1,4}}(?:[.,]\d{{1,2}})?){{1,3}}"
        rf"(?:\s?{UNITS})?(?!\w|[\W_]{{1,3}}\d)",
        re.IGNORECASE,
    ),
    re.compile(rf"{NOT_IN_A_NUMBER}\d{{1,5}}(?:[.,]\d{{1,2}})?[\s\-]?{UNITS}(?![^\W_])", re.IGNORECASE),
)

BETWEEN = rf"(?:(?![{FIRST}-{LAST}])[\W_]){{0,4}}"
LONG = re.compile(rf"(?:\+\s?)?(?:\(\s?)?\d(?:{BETWEEN}\d)*")
EXTENSION = re.compile(r"\s?[,;]?\s?(?:x|ext(?:ension)?|durchwahl|dw|poste|#)\s?[.:]?\s?\d{1,6}(?!\d)", re.IGNORECASE)
WITH_EXTENSION = re.compile(rf"(?<!\w)(?:\+\s?)?\(?\d(?:{BETWEEN}\d){{6,30}}{EXTENSION.pattern}", re.IGNORECASE)
PHONE_WORD = re.compile(
    r"(?<!\w)(?:tel|telefon|telephone|t[ée]l(?:éphone)?|phone|call|ring|fax|mobile?|handy|cell|whatsapp|sms|text)"
    r"[\W_]{0,3}(?:(?:me|us|is|number|no|nr|at|on|under|unter|au|:)[\W_]{1,2}){0,3}\+?\(?$",
    re.IGNORECASE,
)
LOOK_BACK = 40


def is_far(found: re.Match[str], asked_in: int) -> bool:
    """Whether a date lies so far from the year the case was asked in that it can only be about the person."""
    parts = found.groupdict()
    if parts.get("year"):
        year = int(parts["year"])
    else:
        year = asked_in - asked_in % 100 + int(parts["short"])
        year -= 100 if year > asked_in + YEARS_AFTER else 0
    is_near = asked_in - YEARS_BEFORE <= year <= asked_in + YEARS_AFTER
    return not is_near or BORN.search(found.string[max(0, found.start() - LOOK_BACK) : found.start()]) is not None


def long_numbers(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, kind) of each number that may be somebody's, with its extension, in order."""
    at = 0
    while found := LONG.search(text, at):
        at = found.end()
        digits = digits_in(found[0])
        if digits < LEAST_DIGITS and not _follows_phone_word(found, digits):
            continue
        extension = EXTENSION.match(text, at)
        at = extension.end() if extension else at
        is_card = LEAST_CARD_DIGITS <= digits <= MOST_CARD_DIGITS and not found[0].startswith(("+", "0", "("))
        yield found.start(), at, CARD if is_card else PHONE


def _follows_phone_word(found: re.Match[str], digits: int) -> bool:
    before = found.string[max(0, found.start() - LOOK_BACK) : found.start()]
    return digits >= LEAST_AFTER_PHONE_WORD and PHONE_WORD.search(before) is not None
