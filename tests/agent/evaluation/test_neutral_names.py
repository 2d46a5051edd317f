"""A known name is found however it is spelled, and an ordinary word is not taken for one."""

from __future__ import annotations

import unicodedata

import pytest

from agent.evaluation.neutral_names import may_be_named, words_in
from agent.evaluation.neutral_text import NeutralText, a_colleague, somebody_else, the_customer


@pytest.mark.parametrize(
    ("first", "last", "written", "kept"),
    [
        ("Sinead", "O'Neil", "O’Neil, O'Neil, O`NEIL, oneil, O Neil", "Vale, Vale, Vale, Vale, Vale"),
        ("Sinead", "O’Connor", "sinead o'connor's mug", "Robin Vale's mug"),
        ("Zoë", "Müller", unicodedata.normalize("NFD", "Zoë Müller"), "Robin Vale"),
        ("Zoë", "Müller", "zoe mueller, Zoe MULLER, Frau Müllers Tasse", "Robin Vale, Robin Vale, Frau Vale Tasse"),
        ("Zoe", "Mueller", "Zoë Müller", "Robin Vale"),
        ("José", "Núñez", "Jose Nunez here", "Robin Vale here"),
        ("Anna-Lena", "Groß", "Annalena, anna lena, ANNA–LENA, Lena Gross", "Robin, Robin, Robin, Robin Vale"),
        ("Annalena", "Groß", "Anna-Lena", "Robin"),
        ("Mary Ann", "Poe", "Mary, mary ann, Maryann, Ann's", "Robin, Robin, Robin, Robin's"),
        ("Anna", "van der Berg", "Berg, van der Berg, Vanderberg, A. v. d. berg", "Vale, Vale, Vale, A. v. d. Vale"),
        (
            "Priya",
            "Raman",
            "Raman, Priya; priya.raman, priya_raman, PriyaRaman",
            "Robin Vale; Robin Vale, Robin Vale, Robin Vale",
        ),
        ("Priya", "Raman", "Pri\u200bya and Рriya", "Robin and Robin"),
        ("Priya", "Raman", "hello from priya92", "hello from Robin92"),
        ("Michał", "Łoś", "michal los", "Robin Vale"),
        ("伟", "王伟明", "我是王伟明。", "我是Vale。"),
    ],
)
def test_the_customer_is_found_in_any_spelling(first: str, last: str, written: str, kept: str) -> None:
    assert NeutralText([the_customer(first, last)]).of(written) == kept


@pytest.mark.parametrize(
    ("first", "last", "written"),
    [
        ("Ina", "Tan", "It came in a box; it began to leak, the tank too."),
        ("Will", "May", "It will break, it may leak."),
        ("Anna", "van der Berg", "Stand der Dinge: van kaputt, der Rest auch."),
        ("Al", "Du", "Das ist du und all."),
        ("J", "O", "J and O are letters."),
    ],
)
def test_ordinary_words_are_nobodys_name(first: str, last: str, written: str) -> None:
    text = NeutralText([the_customer(first, last)])
    assert text.of(written) == written
    assert dict(text.replaced) == {}


def test_another_person_is_found_only_by_the_whole_name_in_either_order() -> None:
    text = NeutralText([somebody_else("Zoë", "O'Hara")])
    assert text.of("zoe ohara, O’Hara Zoe, but Zoë and O'Hara stay") == "Kim Doe, Kim Doe, but Zoë and O'Hara stay"


def test_the_customer_comes_before_a_colleague_of_the_same_name() -> None:
    text = NeutralText([the_customer("Maya", "Raman"), a_colleague("Maya", "Okafor")])
    assert text.of("Maya Raman and Maya Okafor, maya") == "Robin Vale and a colleague, Robin"


@pytest.mark.parametrize("name", ["Zoë O’Hara", "Zoe O'Hara", "Mary-Ann Lutz", "Uwe Jöst", "王 伟"])
def test_the_quick_look_misses_nobody_the_search_would_find(name: str) -> None:
    for written in ("zoe ohara, Maryann Lutz, uwe joest, 王伟", "Zoë's OHARA; MARY ANN lutz; Joests Uwe; 王伟"):
        assert may_be_named(name, words_in(written))


def test_the_quick_look_passes_over_those_of_whom_nothing_is_said() -> None:
    assert not may_be_named("Anna van der Berg", words_in("It came broken, says Hannah Berger."))
