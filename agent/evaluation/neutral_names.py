"""Finds the names of known people in a text, however they are spelled: any case, without accents, hyphens, apostrophes.

A name is a row of words. Each row of words of the text that spells it is found, with words of the name written as
one ("Annalena", "oneil", "priyaraman") or split at its own hyphens. One look into a dictionary for each row, so that
the time is in proportion to the text whatever stands in it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from itertools import combinations, pairwise

from agent.prompts.fence import skeleton

JOINED = r"['\u2018\u2019\u201b\u02bc\u02b9\u02bb\u2032\uff07`´\-\u2010-\u2015\u2212\ufe58\ufe63\uff0d]"
WORDS = re.compile(rf"[^\W\d_]+(?:{JOINED}(?![sS](?!\w))[^\W\d_]+)*")  # not the s of "Ann's"
PARTS = re.compile(r"[^\W\d_]+")
ASCII_WORDS = re.compile("[a-z]+")
BETWEEN_WORDS = re.compile(rf"\s{{1,3}}|,\s{{0,2}}|[._+&]|{JOINED}|")
WITHOUT_SPACES = re.compile("[\u0e00-\u0eff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
MOST_WORDS = 6
SPELLED_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
PLAIN = str.maketrans({"ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "þ": "th", "ı": "i"})
PARTICLES = re.compile(
    r"van|von|vom|zum?|zur|de|del|della|di|da|dos|das|do|du|des|der|den|ter|ten|la|le|les|el|al|bin|ibn|ben|abu|af|y|e"
)
# Names that are words too: only with a capital letter are they taken for a name.
ALSO_WORDS = re.compile(
    r"am|amber|an|angel|april|art|as|at|august|autumn|baker|ball|banks|be|bell|best|bill|black|brown|bush|carol|"
    r"case|chance|chip|christian|clay|cliff|cook|cooper|crystal|daisy|dawn|day|dean|dick|do|dot|drew|faith|ford|"
    r"fox|frank|glass|go|good|grace|grant|gray|green|guy|he|hill|hope|hunter|in|iris|it|ivy|jack|jay|joy|june|"
    r"just|king|lane|lily|little|long|love|mark|mason|max|may|me|mercy|miles|moss|my|nick|no|noble|olive|on|page|"
    r"pat|pearl|penny|pepper|potter|price|ray|rice|rich|ring|rob|rose|ruby|rusty|sage|sandy|sky|smith|so|star|"
    r"stone|summer|sunny|tanner|to|tucker|victor|violet|wade|ward|waters|we|white|will|winter|wolf|wood|young"
)


@dataclass(frozen=True)
class Named:
    """What a row of words becomes, and whose name it is. `only_capital`: it is an ordinary word too."""

    stand_in: str
    kind: str
    only_capital: bool = False


@dataclass(frozen=True)
class _Word:
    start: int
    end: int
    written: str
    spellings: frozenset[str]


class Names:
    """Those added first win."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, ...], Named] = {}
        self._first: set[str] = set()
        self._literal: dict[str, Named] = {}

    def add_whole(self, name: str, named: Named) -> None:
        if WITHOUT_SPACES.search(name):
            self._literal.setdefault("".join(name.split()), named)
        for words in _spellings_of(name):
            for row in _written_together(words[:MOST_WORDS]):
                is_word = len(row) == 1 and ALSO_WORDS.fullmatch(row[0]) is not None
                if len("".join(row)) > 1 and not (len(row) == 1 and PARTICLES.fullmatch(row[0])):
                    self._rows.setdefault(row, Named(named.stand_in, named.kind, is_word))
                    self._first.add(row[0])

    def add_alone(self, name: str, named: Named) -> None:
        """The name, and each word of it that is more than a letter or a particle."""
        self.add_whole(name, named)
        for words in _spellings_of(name):
            for word in words:
                self.add_whole(word, named)

    def literal_in(self, text: str) -> Iterator[tuple[int, int, Named]]:
        """Names of scripts that put no space between words, wherever they stand."""
        if not self._literal:
            return
        longest_first = sorted(self._literal, key=len, reverse=True)
        for found in re.finditer("|".join(map(re.escape, longest_first)), text):
            yield found.start(), found.end(), self._literal[found[0]]

    def rows_in(self, text: str, *, joined: bool) -> Iterator[tuple[int, int, Named]]:
        """`joined`: words with hyphens and apostrophes are one word; else each part stands for itself."""
        words = list(_words_of(text, WORDS if joined else PARTS))
        at = 0
        while at < len(words):
            found = self._longest(text, words, at)
            if found is None:
                at += 1
                continue
            length, named = found
            yield words[at].start, words[at + length - 1].end, named
            at += length

    def _longest(self, text: str, words: list[_Word], at: int) -> tuple[int, Named] | None:
        if not any(spelled in self._first or spelled[:-1] in self._first for spelled in words[at].spellings):
            return None
        rows: list[tuple[str, ...]] = [()]
        best: tuple[int, Named] | None = None
        for length in range(1, min(MOST_WORDS, len(words) - at) + 1):
            word = words[at + length - 1]
            if length > 1 and not BETWEEN_WORDS.fullmatch(text, words[at + length - 2].end, word.start):
                break
            best = self._known(rows, word, length) or best
            rows = [(*row, spelled) for row in rows for spelled in word.spellings]
        return best

    def _known(self, rows: list[tuple[str, ...]], word: _Word, length: int) -> tuple[int, Named] | None:
        for row in rows:
            for spelled in sorted(word.spellings):
                named = self._rows.get((*row, spelled))
                if named is None and spelled.endswith("s"):
                    named = self._rows.get((*row, spelled[:-1]))  # "Priyas", "Priya's"
                    named = None if named and named.only_capital else named
                if named and (not named.only_capital or word.written[:1].isupper()):
                    return length, named
        return None


def folded(word: str) -> str:
    """As names are compared: letters only, small, without accents or what nobody sees."""
    plain = word.casefold() if word.isascii() else skeleton(word).translate(PLAIN)
    return "".join(letter for letter in plain if letter.isalpha())


def folded_spellings(word: str) -> frozenset[str]:
    """With umlauts as plain letters, and spelled out."""
    if word.isascii():
        return frozenset({folded(word)} - {""})
    composed = unicodedata.normalize("NFC", word).casefold()
    return frozenset({folded(word), folded(composed.translate(SPELLED_OUT))} - {""})


def may_be_named(name: str, said: Set[str]) -> bool:
    """A cheap look before the name is searched for: whether some word of it was `said` (of `words_in`)."""
    if WITHOUT_SPACES.search(name):
        return True
    spelled = [ASCII_WORDS.findall(name.casefold())] if name.isascii() else _spellings_of(name)
    for words in spelled:
        pairs = (first + second for first, second in pairwise(words))
        if not said.isdisjoint(words) or not said.isdisjoint(pairs) or "".join(words) in said:
            return True
    return False


def words_in(text: str) -> set[str]:
    """Every word of a text as names are compared, joined and in its parts, with and without an s at its end."""
    spelled = {
        spelling for pattern in (WORDS, PARTS) for word in _words_of(text, pattern) for spelling in word.spellings
    }
    return spelled | {word[:-1] for word in spelled if word.endswith("s")}


def _words_of(text: str, pattern: re.Pattern[str]) -> Iterator[_Word]:
    """Accents that stand alone and invisible characters belong to the word they stand in."""
    shadow = text if text.isascii() else "".join("a" if _is_part_of_a_letter(char) else char for char in text)
    for found in pattern.finditer(shadow):
        written = text[found.start() : found.end()]
        if spellings := folded_spellings(written):
            yield _Word(found.start(), found.end(), written, spellings)


def _is_part_of_a_letter(char: str) -> bool:
    return not char.isascii() and unicodedata.category(char) in ("Mn", "Mc", "Me", "Cf")


def _spellings_of(name: str) -> Iterable[list[str]]:
    """The words of a name, with umlauts as plain letters and spelled out."""
    parts = [written for written in re.split(rf"[\s.,_]+|{JOINED}", name) if folded(written)]
    plain = [folded(part) for part in parts]
    spelled_out = [max(folded_spellings(part), key=len) for part in parts]
    return [plain] if plain == spelled_out else [plain, spelled_out]


def _written_together(words: list[str]) -> Iterator[tuple[str, ...]]:
    """Every way to write neighbouring words as one: (anna, lena), (annalena)."""
    for count in range(len(words)):
        for cuts in combinations(range(1, len(words)), count):
            edges = [0, *cuts, len(words)]
            yield tuple("".join(words[start:end]) for start, end in pairwise(edges))
