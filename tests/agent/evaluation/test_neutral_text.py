"""What people write keeps its meaning and loses its persons."""

from __future__ import annotations

import pytest

from agent.evaluation.neutral_text import NeutralText, a_colleague, somebody_else, the_customer

PEOPLE = [
    the_customer("Priya", "Raman"),
    somebody_else("Grace", "Liu"),
    a_colleague("Maya", "Okafor"),
    a_colleague("Will", "Stone"),
]


def neutral() -> NeutralText:
    return NeutralText(PEOPLE, ["PH-20417", "PH-20388"])


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("Priya Raman here, priya again.", "Robin Vale here, Robin again."),
        ("Mail me: priya.raman+shop@example.co.uk.", "Mail me: robin.vale@example.com."),
        ("Call +1 (415) 555-2671 or 0151 23456789.", "Call 555 0100 or 555 0100."),
        ("My card is 4242 4242 4242 4242.", "My card is 0000 0000 0000 0000."),
        ("Pay DE89 3704 0044 0532 0130 00 please.", "Pay XX00000000000000 please."),
        ("Order ph-20417, not PH-20388.", "Order PH-10000, not PH-10001."),
        ("Send it to 12 Baker Street, Springfield, IL 62704 then.", "Send it to 1 Sample Street then."),
        ("Ich wohne Bergmannstraße 12, 10961 Berlin.", "Ich wohne 1 Sample Street."),
        ("Maya Okafor and maya approved it.", "a colleague and a colleague approved it."),
        ("Grace Liu bought it with grace.", "Kim Doe bought it with grace."),
        ("I will keep the stone. Will said so.", "I will keep the stone. a colleague said so."),
        (
            "Request #1012, code RMA-K7WQ4D, see https://a.b/?q=1",
            "Request #1000, code RMA-AAAAAA, see https://example.com/",
        ),
    ],
)
def test_personal_details_are_replaced(written: str, kept: str) -> None:
    assert neutral().of(written) == kept


@pytest.mark.parametrize(
    "written",
    [
        "It cost $1,249.00, I paid 129.00 for 2 of 4 mugs.",
        "Bought on 2026-11-29 at 10:06, it came 29.11.2026, 12/24/2026 at the latest.",
        "The C40 grinder holds 1200 ml and 100 filters; 3 days on the way.",
        "Worked for five days. Now the motor hums but the burrs do not turn.",
    ],
)
def test_ordinary_words_and_numbers_stay(written: str) -> None:
    text = neutral()
    assert text.of(written) == written
    assert dict(text.replaced) == {}


def test_what_was_replaced_is_counted_by_kind() -> None:
    text = neutral()
    text.of("Priya, Maya and Maya: a@b.example")
    assert dict(text.replaced) == {
        "name of the customer": 1,
        "name of a staff member": 2,
        "e-mail address": 1,
    }
