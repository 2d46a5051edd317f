"""Takes personal details out of what people wrote: each is replaced by a neutral stand-in, and counted.

It finds what has a form (addresses of e-mail and post, numbers of phones, cards, accounts, orders) and the names of
people the shop knows, and rather replaces too much. A name it does not know stays: whoever saves a text reads it
before it leaves the desk.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from agent.evaluation.masked_text import MaskedText
from agent.evaluation.neutral_addresses import ADDRESSES, POSTAL
from agent.evaluation.neutral_forms import (
    ACCOUNT,
    CODE,
    CODES,
    EMAIL,
    HANDLE,
    NO_WORD_AFTER,
    NO_WORD_BEFORE,
    REFUND,
    REQUEST,
    RETURN_CODE,
    SEPARATED,
    WEB,
    WRITTEN,
    Form,
)
from agent.evaluation.neutral_names import Named, Names
from agent.evaluation.neutral_numbers import (
    CARD,
    DATE_STAND_IN,
    DATES,
    FAR_DATE,
    PHONE,
    READABLE,
    WITH_EXTENSION,
    is_far,
    long_numbers,
)

CUSTOMER_FIRST, CUSTOMER_LAST = "Robin", "Vale"
COLLEAGUE = "a colleague"
OTHER_PERSON = "Kim Doe"
CUSTOMER, STAFF, OTHER, ORDER = (
    "name of the customer",
    "name of a staff member",
    "name of another person",
    "order number",
)
KINDS = (
    CUSTOMER, STAFF, OTHER, EMAIL, HANDLE, WEB, POSTAL, PHONE, CARD, ACCOUNT,
    ORDER, RETURN_CODE, REQUEST, REFUND, CODE, FAR_DATE,
)  # fmt: skip
LEAST_BARE_NUMBER = 4
STAND_INS = {CARD: "0000 0000 0000 0000", PHONE: "555 0100"}


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
    return Person(first, last, CUSTOMER, CUSTOMER_FIRST, CUSTOMER_LAST, full)


def a_colleague(first: str, last: str) -> Person:
    return Person(first, last, STAFF, COLLEAGUE, COLLEAGUE, COLLEAGUE)


def somebody_else(first: str, last: str) -> Person:
    """Only the whole name is replaced: a first name alone may be anybody's, or a word."""
    return Person(first, last, OTHER, OTHER_PERSON, OTHER_PERSON, OTHER_PERSON, alone=False)


@dataclass(frozen=True)
class Known:
    """What the shop knows of a case beside names.

    `order_numbers`: those of the customer, the one in question first. `harmless`: article numbers, which stay.
    `asked_in`: the year of the request; dates far from it are about the person. None: every date stays.
    """

    order_numbers: tuple[str, ...] = ()
    return_codes: tuple[str, ...] = ()
    harmless: tuple[str, ...] = ()
    asked_in: int | None = None


class NeutralText:
    """`replaced` counts what was found, by kind (one of KINDS)."""

    def __init__(self, people: Iterable[Person] = (), known: Known | None = None) -> None:
        self.replaced: Counter[str] = Counter()
        self._known = known or Known()
        self._forms = (*_order_forms(self._known.order_numbers), *_code_forms(self._known.return_codes), *WRITTEN)
        self._harmless = tuple(_whole(word) for word in self._known.harmless if word)
        self._names = _names_of(people)

    def of(self, text: str) -> str:
        masked = MaskedText(text)
        for harmless in self._harmless:
            masked.settle(harmless, lambda found: found[0])
        for form in (*self._forms, *ADDRESSES):
            self._replace(masked, form)
        self._dates(masked)
        for readable in READABLE:
            masked.settle(readable, lambda found: found[0])
        for form in (Form(PHONE, WITH_EXTENSION, STAND_INS[PHONE]), *CODES):
            self._replace(masked, form)
        self._long_numbers(masked)
        self._people(masked)
        return masked.whole()

    def _replace(self, masked: MaskedText, form: Form) -> None:
        def rewritten(found: re.Match[str]) -> str | None:
            if not form.holds(found[0]):
                return None
            if found[0] != form.stand_in:
                self.replaced[form.kind] += 1
            return form.stand_in

        masked.settle(form.pattern, rewritten)

    def _dates(self, masked: MaskedText) -> None:
        def rewritten(found: re.Match[str]) -> str:
            if self._known.asked_in is None or not is_far(found, self._known.asked_in):
                return found[0]
            self.replaced[FAR_DATE] += 1
            return DATE_STAND_IN

        for pattern in DATES:
            masked.settle(pattern, rewritten)

    def _long_numbers(self, masked: MaskedText) -> None:
        found = list(long_numbers(masked.text))
        self.replaced.update(kind for _, _, kind in found)
        masked.settle_spans([(start, end, STAND_INS[kind]) for start, end, kind in found])

    def _people(self, masked: MaskedText) -> None:
        for find in (
            self._names.literal_in,
            lambda text: self._names.rows_in(text, joined=True),
            lambda text: self._names.rows_in(text, joined=False),
        ):
            found = list(find(masked.text))
            self.replaced.update(named.kind for _, _, named in found)
            masked.settle_spans([(start, end, named.stand_in) for start, end, named in found])


def _names_of(people: Iterable[Person]) -> Names:
    """The whole name in both orders, then its parts; who comes first wins where two share a name."""
    names = Names()
    for person in people:
        if person.first and person.last:
            for full in (f"{person.first} {person.last}", f"{person.last} {person.first}"):
                names.add_whole(full, Named(person.full_becomes, person.kind))
        if person.alone:
            names.add_alone(person.first, Named(person.first_becomes, person.kind))
            names.add_alone(person.last, Named(person.last_becomes, person.kind))
    return names


def _order_forms(numbers: Iterable[str]) -> list[Form]:
    """The customer's own numbers with any separators or without their letters; then whatever looks like one."""
    known = [number for number in numbers if number]
    forms = [Form(ORDER, _separated(order), f"PH-{10000 + number}") for number, order in enumerate(known)]
    for number, order in enumerate(known):
        digits = re.search(r"\d+$", order)
        if digits and len(digits[0]) >= LEAST_BARE_NUMBER:
            bare = re.compile(rf"(?<![\w.,$€£¥+]){digits[0]}(?![\w%]|[.,]\d)")
            forms.append(Form(ORDER, bare, str(10000 + number)))
    for letters in sorted({found[0] for order in known if (found := re.match(r"[^\W\d_]+", order))}):
        like_one = rf"{NO_WORD_BEFORE}{re.escape(letters)}{SEPARATED}\d{{4,9}}{NO_WORD_AFTER}"
        forms.append(Form(ORDER, re.compile(like_one, re.IGNORECASE), "PH-19999"))
    return forms


def _code_forms(codes: Iterable[str]) -> list[Form]:
    """The case's own return codes, also without what they begin with."""
    forms = []
    for code in codes:
        forms.append(Form(RETURN_CODE, _separated(code), "RMA-AAAAAA"))
        forms.append(Form(RETURN_CODE, _separated(code.rpartition("-")[2]), "RMA-AAAAAA"))
    return forms


def _separated(number: str) -> re.Pattern[str]:
    """In any case, with anything that is neither letter nor digit between its characters."""
    spelled = r"[\W_]{0,2}".join(re.escape(character) for character in number if character.isalnum())
    return re.compile(rf"{NO_WORD_BEFORE}{spelled}{NO_WORD_AFTER}", re.IGNORECASE)


def _whole(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(words)}(?!\w)", re.IGNORECASE)
