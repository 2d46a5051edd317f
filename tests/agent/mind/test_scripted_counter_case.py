"""What the scripted model says against its own recommendation: true of the case, and resting on what it looked up."""

from __future__ import annotations

from typing import Any

import pytest

from agent.llm.scripted_conversation import read_conversation
from agent.llm.scripted_review import next_call
from tests.agent.mind.test_scripted_review import conversation, seen


def handed_over(results: dict[str, Any], **case: Any) -> dict[str, Any]:
    name, arguments = next_call(read_conversation(conversation(**case, results=results)), may_refund=False)
    assert name == "request_approval"
    return arguments


def delivered(days: int | None, *, inside: bool = True, verdict: str | None = "yes", price: int = 3_400) -> Any:
    results = seen(verdict, price, inside=inside)
    results["get_order"]["this_request"]["days_from_delivery_to_request"] = days
    return results


def refunded_before(*rows: dict[str, Any]) -> Any:
    history = {"refunds_in_history_days": len(rows), "history_days": 90, "refunds": list(rows)}
    return {**delivered(3), "get_refund_history": history}


@pytest.mark.parametrize(
    ("case", "results", "against", "source"),
    [
        ({}, delivered(3), "The picture shows the damage, not when it happened", "inspect_photo"),
        ({}, delivered(6), "The picture shows the damage, not when it happened", "inspect_photo"),
        ({}, delivered(7), "Reported 7 days after delivery", "get_order"),
        ({}, delivered(31, inside=False), "Asked 31 days after delivery, outside the 30-day window.", "get_order"),
        ({}, delivered(None, inside=False), "No delivery date is on record, so nobody can tell", "get_order"),
        ({"reason": "defective"}, delivered(40, inside=False), "A still picture cannot prove", "inspect_photo"),
        ({"reason": "wrong_item"}, delivered(8), "The picture shows another item", "inspect_photo"),
        (
            {},
            refunded_before({"days_ago": 41, "item": "Espresso tamper"}, {"days_ago": 76, "item": None}),
            "It would be this customer's third refund within 90 days; the last one, for “Espresso tamper”, was 41 days "
            "ago.",
            "get_refund_history",
        ),
        (
            {},
            refunded_before({"days_ago": 1, "item": None}),
            "It would be this customer's second refund within 90 days; the last one was 1 day ago.",
            "get_refund_history",
        ),
        (
            {},
            refunded_before({"days_ago": 0, "item": None}),
            "It would be this customer's second refund within 90 days; the last one was today.",
            "get_refund_history",
        ),
    ],
)
def test_against_a_refund_speaks_the_first_that_is_true(
    case: dict[str, Any], results: dict[str, Any], against: str, source: str
) -> None:
    card = handed_over(results, **case)
    assert card["recommendation"] == "refund"
    assert card["counter_case"]["text"].startswith(against)
    assert card["counter_case"]["source"] == source


@pytest.mark.parametrize(
    ("number", "nth"),
    [
        (2, "second"), (5, "fifth"), (6, "6th"), (10, "10th"), (11, "11th"), (12, "12th"), (13, "13th"), (14, "14th"),
        (20, "20th"), (21, "21st"), (22, "22nd"), (23, "23rd"), (24, "24th"), (31, "31st"), (101, "101st"),
        (111, "111th"), (112, "112th"), (113, "113th"), (122, "122nd"),
    ],
)  # fmt: skip
def test_a_refund_is_numbered_as_people_do(number: int, nth: str) -> None:
    card = handed_over(refunded_before(*[{"days_ago": 1, "item": None}] * (number - 1)))
    text = "It would be this customer's {} refund within 90 days; the last one was 1 day ago."
    assert card["counter_case"]["text"] == text.format(nth)


def test_a_defect_past_the_warranty_is_named() -> None:
    results = delivered(400, inside=False)
    results["read_policy"] = {"numbers": {**results["read_policy"]["numbers"], "warranty_days": 365}}
    card = handed_over(results, reason="defective")
    assert card["counter_case"]["text"] == "Asked 400 days after delivery, past the warranty of 365 days."


@pytest.mark.parametrize(
    ("case", "results", "recommendation", "against", "source", "would_change"),
    [
        (
            {}, delivered(3, price=24_900), "refund_after_return",
            "sending the gooseneck kettle back costs", "inspect_photo", "An amount of $150.00 or less",
        ),
        (
            {"reason": "changed_mind", "pictures": 0}, delivered(3, verdict=None), "refund_after_return",
            "unused and in its packaging", "read_policy", "Signs of use",
        ),
        (
            {"reason": "changed_mind", "pictures": 0}, delivered(48, inside=False, verdict=None), "decline",
            "The request came 18 days after the window", "get_order", "inside the 30-day window",
        ),
        (
            {"reason": "changed_mind", "pictures": 0}, delivered(None, inside=False, verdict=None), "decline",
            "No delivery date is on record, so the request may well be in time.", "get_order", "A delivery date",
        ),
        (
            {"reason": "changed_mind", "pictures": 0}, delivered(-2, inside=False, verdict=None), "decline",
            "lies after the request", "get_order", "A delivery date",
        ),
        (
            {}, delivered(3, verdict="no"), "decline",
            "Only one picture was looked at", "inspect_photo", "A picture that shows the gooseneck kettle",
        ),
        ({}, delivered(3, verdict="unclear"), "ask_customer", "delays a customer who may be right", None, "A picture"),
        (
            {"asked": 2}, delivered(3, verdict="unclear"), "ask_customer",
            "The customer was already asked 2 times", None, "A picture that clearly shows the gooseneck kettle",
        ),
        (
            {"reason": "defective", "item": "Digital brew scale (SCL-01)"}, delivered(3), "ask_customer",
            "fresh batteries already", "inspect_photo", "fresh batteries did not help",
        ),
    ],
)  # fmt: skip
def test_every_other_recommendation_has_a_case_against_it(
    case: dict[str, Any], results: dict[str, Any], recommendation: str, against: str, source: str, would_change: str
) -> None:
    card = handed_over(results, **case)
    assert card["recommendation"] == recommendation
    assert against in card["counter_case"]["text"]
    assert card["counter_case"]["source"] == source
    assert would_change in card["would_change"]


def test_the_pictures_that_were_looked_at_are_counted() -> None:
    results = delivered(3, verdict="no")
    results["inspect_photo"]["pictures"] = 3
    assert handed_over(results)["counter_case"]["text"].startswith("Only 3 pictures were looked at")


def test_the_case_against_is_not_said_again_among_the_concerns() -> None:
    assert handed_over(delivered(3))["concerns"] == []


def test_a_long_name_of_an_item_is_cut_to_what_a_card_holds() -> None:
    card = handed_over(delivered(3, verdict="no"), item=f"{'Very ' * 80}long kettle (KTL-09)")
    assert len(card["would_change"]) == 240
