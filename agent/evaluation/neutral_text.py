"""Takes personal details out of what people wrote: each is replaced by a neutral stand-in, and counted.

It finds what has a form (addresses of e-mail and post, numbers of phones, cards, accounts, orders) and the names of
people the shop knows. A name it does not know stays: whoever saves a text reads it before it leaves the desk.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

STREETS = r"street|st|road|rd|avenue|ave|lane|ln|drive|dr|boulevard|blvd|court|ct|way|square|sq|terrace|close|parkway"
DATES = re.compile(r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})(?!\d)")
NUMBER = re.compile(r"(?<![\w.,$€£¥#])\+?\(?\d(?:[ \u00a0().\-/]{0,2}\d){5,}(?![\w%])")
LEAST_PHONE_DIGITS, LEAST_CARD_DIGITS, MOST_CARD_DIGITS = 7, 13, 19
LEAST_IBAN_DIGITS = 10

CUSTOMER_FIRST, CUSTOMER_LAST = "Robin", "Vale"
COLLEAGUE = "a colleague"
OTHER_PERSON = "Kim Doe"
# Names that are words too: only with a capital letter are they taken for a name.
ALSO_WORDS = re.compile(
    r"art|autumn|bill|black|brown|bush|carol|case|chance|christian|clay|cook|cooper|daisy|dawn|dean|dick|drew|"
    r"faith|frank|glass|good|grace|grant|gray|green|hill|hope|hunter|iris|ivy|jack|jay|joy|june|king|lane|lily|"
    r"little|long|mark|mason|may|mercy|miles|moss|nick|noble|olive|pat|penny|potter|price|ray|rich|rob|rose|"
    r"ruby|rusty|sage|sandy|smith|sky|stone|summer|sunny|tanner|tucker|victor|violet|wade|ward|white|will|wood|"
    r"young"
)


@dataclass(frozen=True)
class Person:
    """Somebody the shop knows. `stands_for`: what each part of the name becomes; `kind` as the page says it."""

    first: str
    last: str
    kind: str
    first_becomes: str
    last_becomes: str
    full_becomes: str
    alone: bool = True


def the_customer(first: str, last: str) -> Person:
    full = f"{CUSTOMER_FIRST} {CUSTOMER_LAST}"
    return Person(first, last, "name of the customer", CUSTOMER_FIRST, CUSTOMER_LAST, full)


def a_colleague(first: str, last: str) -> Person:
    return Person(first, last, "name of a staff member", COLLEAGUE, COLLEAGUE, COLLEAGUE)


def somebody_else(first: str, last: str) -> Person:
    """Only the whole name is replaced: a first name alone may be anybody's, or a word."""
    return Person(first, last, "name of another person", OTHER_PERSON, OTHER_PERSON, OTHER_PERSON, alone=False)


class NeutralText:
    """`order_numbers`: those of the customer, the one in question first. `replaced` counts what was found, by kind."""

    def __init__(self, people: Iterable[Person] = (), order_numbers: Iterable[str] = ()) -> None:
        self.replaced: Counter[str] = Counter()
        self._people = list(people)
        self._orders = [number for number in order_numbers if number]

    def of(self, text: str) -> str:
        for number, order in enumerate(self._orders):
            text = self._swap(text, _whole(order), "order number", f"PH-{10000 + number}")
        for kind, pattern, stand_in in FORMS:
            text = self._swap(text, pattern, kind, stand_in)
        text = self._swap_if(text, IBAN, "bank account number", "XX00000000000000", _is_iban)
        text = NUMBER.sub(self._number, text)
        for person in self._people:
            text = self._person(text, person)
        return text

    def _person(self, text: str, person: Person) -> str:
        full = " ".join(part for part in (person.first, person.last) if part)
        if person.first and person.last:
            text = self._swap(text, _whole(full), person.kind, person.full_becomes)
        if person.alone:
            for name, stand_in in ((person.first, person.first_becomes), (person.last, person.last_becomes)):
                text = self._swap(text, _name(name), person.kind, stand_in) if len(name) > 1 else text
        return text

    def _number(self, found: re.Match[str]) -> str:
        digits = sum(character.isdigit() for character in found[0])
        if DATES.match(found[0]) or digits < LEAST_PHONE_DIGITS:
            return found[0]
        is_card = LEAST_CARD_DIGITS <= digits <= MOST_CARD_DIGITS and not found[0].startswith(("+", "0", "("))
        self.replaced["card number" if is_card else "phone or other long number"] += 1
        return "0000 0000 0000 0000" if is_card else "555 0100"

    def _swap(self, text: str, pattern: re.Pattern[str], kind: str, stand_in: str) -> str:
        return self._swap_if(text, pattern, kind, stand_in, lambda found: True)

    def _swap_if(
        self, text: str, pattern: re.Pattern[str], kind: str, stand_in: str, holds: Callable[[str], bool]
    ) -> str:
        def swapped(found: re.Match[str]) -> str:
            if not holds(found[0]) or found[0] == stand_in:
                return found[0]
            self.replaced[kind] += 1
            return stand_in

        return pattern.sub(swapped, text)


IBAN = re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?:[ \-]?[A-Z0-9]{4}){2,7}(?:[ \-]?[A-Z0-9]{1,3})?(?!\w)", re.IGNORECASE)
FORMS = (
    ("e-mail address", re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+"), "robin.vale@example.com"),
    ("web address", re.compile(r"(?:https?://|www\.)[^\s<>\"']+", re.IGNORECASE), "https://example.com/"),
    ("return code", re.compile(r"(?<!\w)RMA-[A-Z0-9]{4,8}(?!\w)", re.IGNORECASE), "RMA-AAAAAA"),
    ("refund reference", re.compile(r"(?<!\w)(?:re|ch|pi)_\w{4,}"), "re_0000"),
    ("number of a request", re.compile(r"(?<!\w)#\d{4,}(?!\w)"), "#1000"),
    (
        "postal address",
        re.compile(
            rf"(?<!\w)\d{{1,5}}[a-z]?,?\s+(?:[A-ZÀ-Þ][\w'’.-]*\s+){{1,3}}(?i:{STREETS})\b\.?"
            r"(?:,?\s+(?i:apt|apartment|unit|suite|flat|no)\b\.?\s*\w{1,5}\b)?"
            r"(?:,\s*[A-ZÀ-Þ]\w+(?:\s[A-ZÀ-Þ]\w+){0,2})?(?:,?\s+[A-Z]{2}\s+\d{5}(?:-\d{4})?\b)?",
        ),
        "1 Sample Street",
    ),
    (
        "postal address",
        re.compile(
            r"(?<!\w)(?:[^\W\d_][\w-]*(?:straße|strasse|str\.|weg|platz|allee|gasse)|(?:rue|avenue|place|via|calle)"
            r"(?:\s[^\W\d_][\w'’-]*){1,4})\s+\d{1,4}[a-z]?(?!\w)(?:,?\s+\d{4,5}\s+[^\W\d_]\w+)?",
            re.IGNORECASE,
        ),
        "1 Sample Street",
    ),
)


def _is_iban(found: str) -> bool:
    return sum(character.isdigit() for character in found) >= LEAST_IBAN_DIGITS


def _whole(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(words)}(?!\w)", re.IGNORECASE)


def _name(name: str) -> re.Pattern[str]:
    if ALSO_WORDS.fullmatch(name.lower()) is None:
        return _whole(name)
    return re.compile(rf"(?<!\w)(?:{re.escape(name.capitalize())}|{re.escape(name.upper())})(?!\w)")
