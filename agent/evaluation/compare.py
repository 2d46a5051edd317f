"""Compares the end that was wanted with the end that came: each difference one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.evaluation.scenario import Scenario, Wanted
from agent.llm.scripted import PROVIDER as SCRIPTED
from payments.money import format_minor


def differences_of(scenario: Scenario, got: Mapping[str, Any]) -> list[str]:
    """What the scripted model does not claim to cover it has to leave to a person, whatever its card then says."""
    if not scenario.covered and got["provider"] == SCRIPTED:
        ends = (_status, _money, _automatic)
        return [sentence for end in ends if (sentence := end(scenario.wanted, got))]
    return differences(scenario.wanted, got)


def differences(wanted: Wanted, got: Mapping[str, Any]) -> list[str]:
    """Empty: the scenario ended as wanted. `got` as in `outcome.py`."""
    found = [_status(wanted, got), _money(wanted, got), _automatic(wanted, got), _recommendation(wanted, got)]
    found.append(_rules(wanted, got))
    found += [_concern(word, got["concerns"]) for word in wanted.concern_names]
    return [sentence for sentence in found if sentence]


def _status(wanted: Wanted, got: Mapping[str, Any]) -> str:
    return "" if got["status"] == wanted.status else f"It ended {got['status']}; wanted was {wanted.status}."


def _money(wanted: Wanted, got: Mapping[str, Any]) -> str:
    if got["paid_minor"] == wanted.paid_minor:
        return ""
    paid, right = (format_minor(amount, got["currency"]) for amount in (got["paid_minor"], wanted.paid_minor))
    return f"{paid} went back; wanted were {right}."


def _automatic(wanted: Wanted, got: Mapping[str, Any]) -> str:
    if got["automatic"] == wanted.automatic:
        return ""
    return "Money went back without a person." if got["automatic"] else "No money went back without a person."


def _recommendation(wanted: Wanted, got: Mapping[str, Any]) -> str:
    if got["recommendation"] == wanted.recommendation:
        return ""
    if got["recommendation"] is None:
        return f"No card was opened; wanted was one that recommends {wanted.recommendation}."
    right = "none" if wanted.recommendation is None else f"one that recommends {wanted.recommendation}"
    return f"The last card recommends {got['recommendation']}; wanted was {right}."


def _rules(wanted: Wanted, got: Mapping[str, Any]) -> str:
    if set(got["failed_rules"]) == set(wanted.failed_rules):
        return ""
    return f"The last card names {_names(got['failed_rules'])}; wanted was {_names(wanted.failed_rules)}."


def _names(rules: Any) -> str:
    return ", ".join(f"the rule {rule}" for rule in sorted(rules)) or "no failed rule"


def _concern(word: str, concerns: list[str]) -> str:
    if any(word.lower() in concern.lower() for concern in concerns):
        return ""
    return f"No concern of the last card names “{word}”."
