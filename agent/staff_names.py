"""Names of staff in a text that a customer may read, however they are spelled.

A name that is an ordinary word too ("Will you send us a photo? May we keep it?") counts only where the word would not
stand by itself: beside another part of the same person's name, or with a capital inside a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Q

from agent.prompts.fence import skeleton

MOST_STAFF = 500
OUR_TEAM = "our team"
# Accents and joiners of their own inside a word belong to it.
WORD = re.compile("(?:[^\\W_]|[\u0300-\u036f\u00ad\u200b-\u200f\u2060])+")
JOINED = re.compile("['\u2018\u2019\u02bc`\u2010\u2011-]")
SENTENCE_BEGINS = re.compile(r"(?:^|[.?!:…\n])[\s\"'“”‘’(\[*-]*\Z")
MONTHS = re.compile(r"january|april|may|june|july|august")
PARTICLES = re.compile(r"van|von|vom|zu|zur|de|del|della|di|da|dos|das|do|du|des|der|den|la|le|les|el|al|bin|ibn")
WORDS_TOO = re.compile(
    r"amber|an|angel|art|as|at|autumn|baker|ball|banks|be|bean|bell|berry|best|bill|bird|black|"
    r"bond|brook|brooks|brown|bush|butler|cash|chance|chase|chip|christian|church|clay|cliff|coffin|"
    r"cook|cooper|crystal|daisy|dawn|day|dean|dick|dot|drew|faith|field|fields|fisher|ford|fox|"
    r"frank|glass|go|gold|good|grace|grant|gray|green|guy|hall|hand|he|hill|holly|hope|house|"
    r"hunter|ice|in|iris|it|ivy|jack|jade|jay|joy|just|king|lake|lane|leaf|lee|lily|little|long|"
    r"love|major|mark|marsh|mason|max|me|mercy|miles|miller|mills|moss|my|nick|no|noble|olive|on|"
    r"page|park|parker|pat|pearl|penny|pepper|pope|porter|potter|price|ray|reed|rice|rich|ring|rob|"
    r"robin|rock|root|rose|ruby|rusty|sage|sandy|sharp|short|silver|sky|small|smith|so|star|stone|"
    r"story|strong|summer|sunny|sweet|tanner|taylor|to|tucker|turner|victor|violet|wade|walker|ward|"
    r"waters|way|we|weaver|west|white|wild|will|wills|winter|wise|wolf|wood|woods|young"
)


Person = frozenset[str]


@dataclass(frozen=True)
class _Word:
    start: int
    end: int
    folded: str


def staff_names(request_id: int) -> frozenset[Person]:
    """The words of each name of the staff and of everyone who decided here: a note may name a colleague who did not."""
    people = User.objects.filter(Q(is_staff=True) | Q(decisions__approval__request_id=request_id))
    rows = people.values_list("first_name", "last_name").distinct()[:MOST_STAFF]
    return frozenset(_words_of(row) for row in rows) - {frozenset()}


def names_one_of(text: str, people: frozenset[Person]) -> bool:
    return bool(_found(text, people))


def without_names(text: str, people: frozenset[Person]) -> str:
    """Each name is `our team`, the parts of one name together."""
    pieces: list[str] = []
    end = 0
    for start, stop in _found(text, people):
        between = text[end:start]
        if pieces and not between.strip():
            end = stop
            continue
        pieces += [between, OUR_TEAM]
        end = stop
    return "".join([*pieces, text[end:]])


def _words_of(row: Sequence[str]) -> Person:
    """Each word by itself, and what a hyphen or an apostrophe joins as one word too."""
    words = {word for name in row for word in WORD.findall(skeleton(name))}
    return frozenset(words | {"".join(WORD.findall(part)) for name in row for part in skeleton(name).split()} - {""})


def _found(text: str, people: frozenset[Person]) -> list[tuple[int, int]]:
    """Start and end of every word that names somebody, in order."""
    owners: dict[str, set[Person]] = {}
    for person in people:
        for word in person:
            owners.setdefault(word, set()).add(person)
    words = [_Word(match.start(), match.end(), skeleton(match[0])) for match in WORD.finditer(text)]
    named = [_is_name(text, words, at, owners) for at in range(len(words))]
    for at in range(len(words) - 1):
        one, other = words[at], words[at + 1]
        if JOINED.fullmatch(text, one.end, other.start) and one.folded + other.folded in owners:
            named[at] = named[at + 1] = True
    return [(word.start, word.end) for word, is_name in zip(words, named, strict=True) if is_name]


def _is_name(text: str, words: Sequence[_Word], at: int, owners: dict[str, set[Person]]) -> bool:
    word = words[at]
    if word.folded not in owners:
        return False
    if not _is_word_too(word.folded):
        return True
    beside = [words[near].folded for near in (at - 1, at + 1) if 0 <= near < len(words)]
    if any(near != word.folded and near in person for person in owners[word.folded] for near in beside):
        return True
    if MONTHS.fullmatch(word.folded) or len(word.folded) == 1 or not text[word.start].isupper():
        return False
    return SENTENCE_BEGINS.search(text, 0, word.start) is None


def _is_word_too(folded: str) -> bool:
    """A single letter is no name by itself either."""
    return len(folded) == 1 or any(kind.fullmatch(folded) for kind in (MONTHS, PARTICLES, WORDS_TOO))
