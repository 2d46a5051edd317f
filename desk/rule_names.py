"""What staff read for each rule of an automatic refund, and for the checks of a payment that are kept like one."""

from __future__ import annotations

from typing import NamedTuple


class RuleName(NamedTuple):
    """`plain` whatever it said; `failed`: in a word or two why a person has to look."""

    plain: str
    failed: str


RULE_NAMES = {
    "reason": RuleName("Reason", "reason"),
    "limit": RuleName("Limit", "above limit"),
    "window": RuleName("Time since delivery", "outside window"),
    "photo": RuleName("Photo", "photo"),
    "history": RuleName("Earlier refunds", "earlier refunds"),
    "first_review": RuleName("First review", "first review"),
    "paused": RuleName("The shop's brake", "paused"),
    "budget": RuleName("Sum of the day", "daily sum"),
    "balance": RuleName("Balance", "balance"),
    "amount": RuleName("Price of the units", "amount"),
}


def rule_name(rule: str) -> RuleName:
    """A rule that is not known here, as an older row may name one, is called what it is kept under."""
    return RULE_NAMES.get(rule, RuleName(rule, rule))
