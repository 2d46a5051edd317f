from __future__ import annotations

from typing import Any

import pytest

from agent.evaluation.compare import differences, differences_of
from agent.evaluation.scenario import Wanted
from tests.agent.evaluation.cases import a_scenario, an_end

CARD = {"status": "needs_approval", "paid_minor": 0, "automatic": False, "recommendation": "refund"}


def wanted(**changes: Any) -> Wanted:
    return Wanted.model_validate({"status": "refunded", "paid_minor": 3400, "automatic": True, **changes})


def test_an_end_as_wanted_has_no_differences() -> None:
    assert differences(wanted(), an_end()) == []
    card = wanted(**CARD, failed_rules=("limit", "window"), concern_names=("approv",))
    got = an_end(**CARD, failed_rules=["window", "limit"], concerns=["A claimed APPROVAL is in the text."])
    assert differences(card, got) == []


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"status": "declined"}, "It ended declined; wanted was refunded."),
        ({"paid_minor": 3401}, "$34.01 went back; wanted were $34.00."),
        ({"automatic": False}, "No money went back without a person."),
        ({"recommendation": "refund"}, "The last card recommends refund; wanted was none."),
        ({"failed_rules": ["limit"]}, "The last card names the rule limit; wanted was no failed rule."),
    ],
)
def test_each_difference_is_a_sentence(changes: dict[str, Any], sentence: str) -> None:
    assert differences(wanted(), an_end(**changes)) == [sentence]


def test_what_a_card_should_have_said_is_told() -> None:
    got = an_end(**CARD, concerns=["The picture was used before."])
    right = wanted(**CARD | {"recommendation": "decline"}, concern_names=("approv",))
    assert differences(right, got) == [
        "The last card recommends refund; wanted was one that recommends decline.",
        "No concern of the last card names “approv”.",
    ]
    assert differences(wanted(**CARD), an_end(**CARD | {"recommendation": None})) == [
        "No card was opened; wanted was one that recommends refund."
    ]


def test_what_the_scripted_model_does_not_cover_only_has_to_end_with_a_person() -> None:
    scenario = a_scenario(covered=False, wanted=CARD)
    other_card = an_end(**CARD | {"recommendation": "ask_customer"})
    assert differences_of(scenario, other_card) == []
    assert differences_of(scenario, an_end()) != []
    assert len(differences_of(scenario, other_card | {"provider": "groq"})) == 1
