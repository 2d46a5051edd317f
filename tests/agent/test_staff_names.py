"""Who is named in a text for a customer, and which words are only words."""

from __future__ import annotations

import pytest

from agent.customer_words import has_markup
from agent.staff_names import names_one_of, staff_names, without_names
from tests.factories import ApprovalFactory, StaffFactory

pytestmark = pytest.mark.django_db


def named(text: str, *people: tuple[str, str]) -> bool:
    for first, last in people:
        StaffFactory(first_name=first, last_name=last)
    return names_one_of(text, staff_names(ApprovalFactory().request_id))


@pytest.mark.parametrize(
    ("first", "last", "text"),
    [
        ("Maya", "Okafor", "ask MAYA"),
        ("Maya", "Okafor", "maya's word"),
        ("José", "Núñez", "jose said so"),
        ("Noëlle", "Berg", "Noe\u0308lle said so"),
        ("Anna-Lena", "Berg", "Annalena or lena"),
        ("Annalena", "Berg", "It was Anna-Lena."),
        ("Sean", "O'Connor", "Mr O’Connor"),
        ("Oconnor", "", "Mr O'Connor"),
        ("Will", "May", "Then Will came."),
        ("Will", "May", "will may"),
        ("Jan", "van der Berg", "Ms berg"),
    ],
)
def test_a_name_is_found_however_it_is_spelled(first: str, last: str, text: str) -> None:
    assert named(text, (first, last))


@pytest.mark.parametrize(
    "text",
    ["Will it hold? May we see it?", "It will, and it may.", "In May it will.", "A mayan cup.", "“Will you?” he said.",
     "I paid the price of the van.", "Rose will do."],
)  # fmt: skip
def test_a_word_is_no_name(text: str) -> None:
    assert not named(text, ("Will", "May"), ("Rose", "van Price"), ("I", "Zabel"))


def test_a_name_in_a_text_becomes_our_team_and_words_stay() -> None:
    StaffFactory(first_name="Maya", last_name="Okafor")
    StaffFactory(first_name="Will", last_name="Young")
    people = staff_names(ApprovalFactory().request_id)
    text = "MAYA Okafor, Will Young and maya saw it. Will it do? It will, though young."
    assert without_names(text, people) == "our team, our team and our team saw it. Will it do? It will, though young."
    assert without_names("Nobody saw it.", people) == "Nobody saw it."


@pytest.mark.parametrize(
    "text",
    ["# Title", "a\n## b", "**bold**", "*so*", "* a point", "_so_", "__so__", "|a|b|", "a | b | c", "issue_refund",
     "`x`", "[a](b)", "<b>", "{x}", "https://a.example", "www.a.example"],
)  # fmt: skip
def test_markup_is_seen(text: str) -> None:
    assert has_markup(text)


@pytest.mark.parametrize("text", ["Is it the #4 filter?", "A 5* kettle?", "A|B", "AB_12", "2 * 3 or 2*3*4", "#1 or #2"])
def test_signs_that_people_use_are_no_markup(text: str) -> None:
    assert not has_markup(text)
