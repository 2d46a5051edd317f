"""Staff read the same words for a rule and for a number of the policy wherever they stand."""

from __future__ import annotations

from dataclasses import replace
from html import unescape

import pytest
from django.test import Client

from agent.evaluation.ground import ORDINARY_POLICY
from desk.policy_labels import AMOUNTS, LABELS
from desk.proof_words import policy_in_words
from desk.rule_names import RULE_NAMES, rule_name
from intake.rules import judge
from tests.desk.rows import kettle_request
from tests.intake.test_rules import GOOD


def test_every_rule_has_its_words() -> None:
    asked = {verdict.rule for verdict in judge(replace(GOOD, first_review=False))}
    assert asked | {"balance", "amount"} == set(RULE_NAMES)
    assert rule_name("limit") == ("Limit", "above limit")


def test_every_number_of_the_policy_has_its_words() -> None:
    assert set(LABELS) == set(ORDINARY_POLICY)


@pytest.mark.parametrize("name", [*AMOUNTS, "refund_window_days", "history_days"])
def test_a_number_is_called_the_same_in_both_forms(lead: Client, name: str) -> None:
    for address in ("/desk/intake/policyversion/add/", f"/desk/requests/{kettle_request().uuid}/again"):
        assert LABELS[name] in unescape(lead.get(address).content.decode())


def test_a_proof_calls_a_number_the_same() -> None:
    told = dict(policy_in_words(ORDINARY_POLICY))
    assert told[LABELS["daily_budget_minor"]] == "$500.00"
    assert told[LABELS["history_days"]] == "90"
