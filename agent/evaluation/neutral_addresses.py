"""Where somebody lives or has parcels sent: streets, boxes and postcodes as English, German and French write them.

A house number tells a street from a word; words that come between a count and an ordinary "way" or "square" keep
the sentence from being taken for one. Every repetition has an upper bound, so no text is slow.
"""

from __future__ import annotations

import re

from agent.evaluation.neutral_forms import Form

POSTAL = "postal address"
STAND_IN = "1 Sample Street"
CAPITAL = r"(?:St\.\s)?[A-ZÀ-ÖØ-ÞŁŚŠŽ](?:[^\W\d_]|['’-]){0,40}(?!\w)"
TOWN = rf"(?=\w{{3}}){CAPITAL}"
BEFORE = r"(?<![\w/.,$€£¥+\-])(?<!\d )"
NOT_NAMED_SO = (
    r"(?!(?:on|in|the|from|at|and|or|was|is|were|are|to|with|my|our|your|a|an|down|across|by|for|off|it|this|that|"
    r"days?|weeks?|months?|years?|hours?|minutes?|times?|of|cm|mm|ml|kg|oz|inch|inches|parcels?|boxes|pieces?)\b)"
)
WORD = rf"{NOT_NAMED_SO}[\w'’.-]{{1,40}}"
ANY_CASE = r"street|road|avenue|ave|av|blvd|boulevard|lane|ln|rd|st|parkway|pkwy|highway|hwy|crescent|mews|broadway"
TWO_DIGITS = r"drive|dr|court|ct|square|sq|close|terrace|gardens|circle|cir"
CAPITAL_ONLY = (
    rf"Way|Place|Pl|Row|Park|Hill|Green|Walk|Trail|Run|Loop|View|Point|Heights|Grove|Quay|{TWO_DIGITS.title()}"
)
FLAT = r"(?:[,\s]{1,2}(?:apt|apartment|unit|suite|ste|flat|floor|no|#)\b\.?\s?#?\w{1,6}\b)?"
ZIP = r"\d{5}(?:[\-\u2010-\u2015]\d{4})?(?![\w]|[ \-./]?\d)"
UK = r"[A-Z]{1,2}\d[A-Z\d]?\s?\d(?!ml|kg|cm|mm|oz|cl|mg|nd|rd|th|st|pm|am)[ABD-HJLNP-UW-Z]{2}(?!\w)"
CANADA = r"[ABCEGHJ-NPRSTVXY]\d[A-Z][ -]?\d[A-Z]\d(?!\w)"
STATES = (
    r"A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY]"
)
TAIL = (
    rf"{FLAT}(?:,\s{{0,2}}{CAPITAL}(?:\s{CAPITAL}){{0,3}}){{0,3}}"
    rf"(?:,?\s{{1,2}}(?:(?:(?:{STATES})[,\s]{{1,2}})?{ZIP}(?:\s{CAPITAL}){{0,2}}|(?i:{UK})|(?i:{CANADA})|(?:{STATES})\b))?"
)
ARTICLE = r"(?:(?:de|du|des|la|le|les|della|del|dei|los|las)\s|l['’]|d['’])"
FRENCH_NAME = rf"(?:{ARTICLE}{{1,3}}|(?=[A-ZÀ-Þ\d]))[\w'’-]{{1,40}}(?:\s(?:{ARTICLE}{{0,3}}){CAPITAL}){{0,3}}"
GERMAN = r"straße|strasse|str\.|str|weg|platz|allee|gasse|damm|ufer|chaussee|steig|pfad"
GERMAN_NUMBER = r"\s{0,2}\d{1,4}(?:\s?[a-h](?!\w))?(?:\s?[-/]\s?\d{1,4})?(?!\w)"
GERMAN_TAIL = r"(?:,?\s{1,2}(?:[A-Z]{1,2}-)?\d{4,5}\s[^\W\d_][\w-]{1,40}(?:\s(?:am|an der|im)\s\w{2,30})?)?"
NO_DAY = (
    r"(?!(?:Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonntag|Januar|Februar|März|April|Mai|Juni|Juli|August|"
    r"September|Oktober|November|Dezember)\b)"
)
NO_UNIT = r"(?!(?:Euros?|EUR|USD|Dollars?|Cents?|Gramm|Watt|Volt|Stück|Filter|ML|Ml|KG|Uhr|Mal|AM|PM)\b)"


def _form(pattern: str, *, any_case: bool = False) -> Form:
    return Form(POSTAL, re.compile(pattern, re.IGNORECASE if any_case else 0), STAND_IN)


def _english(kinds: str, word: str, number: str, least: int) -> str:
    return (
        rf"{BEFORE}(?:(?i:flat|apt|apartment|unit|suite)\.?\s#?\w{{1,4}},?\s)?{number}(?:[\-/]\d{{1,4}})?(?i:[a-z]\b)?,?\s{{1,2}}"
        rf"(?:{word}\s{{1,2}}){{{least},4}}?(?:{kinds})\b(?:\.(?=,|\s[a-z\d]))?(?:\s[NSEW]{{1,2}}\b)?{TAIL}"
    )


ADDRESSES = (
    _form(
        r"(?<!\w)(?:p\.?\s?o\.?\s{0,2}box|post\s?office\s(?:box)?|postfach|packstation|bo[iî]te\spostale|b\.?p\.?|postbus|"
        rf"apartado)\s{{0,2}}(?:no\.?\s?|nr\.?\s?|#\s?)?\d[\d \-]{{0,10}}\d?(?!\w)(?-i:{TAIL})",
        any_case=True,
    ),
    _form(
        rf"{BEFORE}\d{{1,4}}\s?(?:bis|ter)?,?\s(?i:rue|avenue|av\.|boulevard|bd\.?|chemin|impasse|quai|allée|ruelle|place|"
        rf"square|route|cours|passage|villa|faubourg)\s{FRENCH_NAME}{TAIL}"
    ),
    _form(_english(f"(?i:{ANY_CASE})", WORD, r"\d{1,5}", 1)),
    _form(_english("(?i:broadway)", WORD, r"\d{1,5}", 0)),
    _form(_english("(?i:avenue|ave)", WORD, r"\d{1,5}", 0) + rf"(?:\sof\sthe\s{CAPITAL}|\s[A-Z]\b)?"),
    _form(_english(f"(?i:{TWO_DIGITS})", WORD, r"\d{2,5}", 1)),
    _form(_english(CAPITAL_ONLY, CAPITAL, r"\d{1,5}", 1)),
    _form(rf"(?<![\w-])[\w-]{{2,40}}(?:{GERMAN}){GERMAN_NUMBER}{GERMAN_TAIL}", any_case=True),
    _form(rf"(?<![\w-]){NOT_NAMED_SO}[^\W\d_][\w-]{{0,40}}\s(?:{GERMAN}){GERMAN_NUMBER}{GERMAN_TAIL}", any_case=True),
    _form(rf"(?<![\w-])(?:straße|strasse|platz|allee|gasse){GERMAN_NUMBER}{GERMAN_TAIL}", any_case=True),
    _form(
        rf"(?<!\w)(?:straße|strasse)\sd(?:er|es)\s(?:\d{{1,2}}\.\s)?\w{{1,40}}{GERMAN_NUMBER}{GERMAN_TAIL}",
        any_case=True,
    ),
    _form(
        r"(?<!\w)(?:Am|An de[rn]|Auf de[rm]|Im|In der|Zum|Zur|Unter den|Unter der|Beim|Alte[rs]?|Neue[rs]?)\s"
        rf"{NO_DAY}[A-ZÄÖÜ][\w-]{{1,40}}\s\d{{1,4}}[a-h]?(?=\s?(?:[,.;:!?)\n]|$|in\b|\d{{5}}\b)){GERMAN_TAIL}"
    ),
    _form(
        r"(?<!\w)(?i:rue|avenue|boulevard|chemin|impasse|quai|place|via|viale|corso|piazza|calle|plaza|avenida|rua)\s"
        rf"{FRENCH_NAME},?\s{{1,2}}\d{{1,4}}(?i:[a-h])?(?!\w){TAIL}"
    ),
    _form(r"(?<!\w)(?:apt|apartment|suite|ste)\b\.?\s?#?\d{1,5}[a-z]?(?!\w)", any_case=True),
    _form(
        r"(?<!\w)(?:zip|plz|postcode|postal code|post code|zip code|postleitzahl|code postal)\W{0,3}(?:is\s)?"
        r"[A-Z]{0,2}\d[\w-]{2,7}(?:\s\d[A-Z]{2}\b)?(?!\w)",
        any_case=True,
    ),
    _form(rf"(?<!\w)(?:{CAPITAL}(?:\s{CAPITAL}){{0,2}},?\s)?(?:{STATES})[,\s]{{1,2}}{ZIP}"),
    _form(rf"(?<!\w)(?:{CAPITAL}\s){{0,2}}(?i:{UK}|{CANADA})"),
    _form(rf"(?<!\w){TOWN}(?:\s{CAPITAL}){{0,2}},?\s{ZIP}(?:\s{NO_UNIT}{TOWN})?"),
    _form(rf"{BEFORE}(?:[A-Z]{{1,2}}[- ])?\d{{5}}\s{NO_UNIT}{TOWN}(?:\s{CAPITAL})?"),
    _form(rf"(?<!\w)(?:(?:A|CH|L|B|DK|NL)[- ]|(?<=,\s))\d{{4}}\s{NO_UNIT}{TOWN}"),
    _form(rf"{BEFORE}\d{{4}}\s?(?!ML|CL|KG|MG|OZ|MM|CM|KW|US|AM|PM|ST)[A-Z]{{2}}(?!\w)(?:\s{CAPITAL})?"),
)
