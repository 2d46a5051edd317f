"""`request_approval`: what the model's recommendation becomes on the way to the card."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent.outcomes import Point
from agent.tools.context import ReviewContext
from agent.tools.request_approval import NO_NAMES, PLAIN_WORDS
from intake.models import RefundRequest
from tests.agent.mind.test_tools import context_of, run
from tests.factories import StaffFactory

Ask = Callable[..., RefundRequest]
pytestmark = pytest.mark.django_db

CLEAR: dict[str, Any] = {
    "recommendation": "refund",
    "findings": [],
    "concerns": [],
    "reasoning": "Clear.",
    "draft_question": "",
}


ASKS: dict[str, Any] = {**CLEAR, "recommendation": "ask_customer"}
del ASKS["draft_question"]


def handed_over(context: ReviewContext, **said: Any) -> Any:
    return run(context, "request_approval", **{**CLEAR, **said}).outcome.ending


def test_a_hand_over_names_the_failed_rules_without_first_review(ask: Ask) -> None:
    request = ask("kettle", "kettle-dented-spout")
    context = context_of(request)
    run(context, "get_order")
    claims = [{"text": "Delivered 5 days ago.", "source": "get_order"}, {"text": "I think so.", "source": None}]
    handover = handed_over(context, findings=claims)
    assert [rule.rule for rule in handover.failed_rules] == ["limit", "photo"]
    assert [point.step for point in handover.findings] == [1, None]


def test_a_look_after_the_rules_were_asked_counts_on_the_card(ask: Ask) -> None:
    context = context_of(ask("kettle", "kettle-dented-spout"))
    run(context, "issue_refund", reason="Clear.")
    run(context, "inspect_photo", source="request")
    handover = handed_over(context)
    assert [rule.rule for rule in handover.failed_rules] == ["limit"]
    assert handover.rules_step is None  # what the rules said in that step is not what stands on the card


def test_failed_rules_rest_on_the_step_that_asked_them(ask: Ask) -> None:
    context = context_of(ask("kettle", "kettle-dented-spout"))
    run(context, "inspect_photo", source="request")
    run(context, "issue_refund", reason="Clear.")
    assert handed_over(context).rules_step == 3


def test_the_case_against_rests_on_a_step_like_a_finding(ask: Ask) -> None:
    context = context_of(ask("kettle"))
    run(context, "get_order")
    said = {"text": " It came 5 days ago. ", "source": "get_order"}
    handover = handed_over(context, counter_case=said, would_change=" A later date. ")
    assert handover.counter_case == Point("It came 5 days ago.", 1)
    assert handover.would_change == "A later date."
    assert handed_over(context, counter_case={**said, "source": "read_policy"}).counter_case.step is None


@pytest.mark.parametrize("left", [{}, {"counter_case": {"text": " ", "source": None}, "would_change": " "}])
def test_without_a_case_against_the_hand_over_has_none(ask: Ask, left: dict[str, Any]) -> None:
    handover = handed_over(context_of(ask("kettle")), **left)
    assert (handover.counter_case, handover.would_change) == (None, "")


def test_a_draft_question_is_kept_only_for_asking(ask: Ask) -> None:
    handover = handed_over(context_of(ask("kettle")), recommendation="decline", draft_question="Why?")
    assert handover.draft_question == ""


@pytest.mark.parametrize(
    "question",
    ["Write to us at https://else.example, please.", "Did <b>it</b> break?", "May issue_refund run?", "[Click](x)?"],
)
def test_a_question_with_markup_links_or_tools_goes_back_to_the_model(ask: Ask, question: str) -> None:
    ran = run(context_of(ask("kettle")), "request_approval", **ASKS, draft_question=question)
    assert ran.outcome.ending is None
    assert ran.outcome.result == {"error": PLAIN_WORDS}


def test_the_articles_own_name_may_stand_in_a_question(ask: Ask) -> None:
    request = ask("kettle")
    StaffFactory(first_name="Maya", last_name="Okafor")
    request.line.name = "The <3 mug by Maya"
    request.line.save()
    handover = handed_over(context_of(request), **ASKS, draft_question="Could you show us the <3 mug by Maya again?")
    assert handover.draft_question == "Could you show us the <3 mug by Maya again?"


@pytest.mark.parametrize(
    "question",
    ["What did Maya Okafor tell you?", "MAYA asks for a photo.", "Is it what maya said?", "Did Will agree?",
     "Will Young wrote to you?", "Was it may young?"],
)  # fmt: skip
def test_a_question_that_names_staff_goes_back_to_the_model(ask: Ask, question: str) -> None:
    StaffFactory(first_name="Maya", last_name="Okafor")
    StaffFactory(first_name="Will", last_name="Young")
    StaffFactory(first_name="May", last_name="Young")
    ran = run(context_of(ask("kettle")), "request_approval", **ASKS, draft_question=question)
    assert ran.outcome.ending is None
    assert ran.outcome.result == {"error": NO_NAMES}


@pytest.mark.parametrize(
    "question",
    ["Will you send us a photo? May we keep it?", "Is it the #4 filter?", "Is it size 5* or A|B, on model AB_12?",
     "When in May did you see it, and will it dry?"],
)  # fmt: skip
def test_a_good_question_stays_as_the_model_wrote_it(ask: Ask, question: str) -> None:
    StaffFactory(first_name="Will", last_name="Young")
    StaffFactory(first_name="May", last_name="Rose")
    assert handed_over(context_of(ask("kettle")), **ASKS, draft_question=question).draft_question == question


def test_nothing_unseen_stands_on_a_card(ask: Ask) -> None:
    handover = handed_over(context_of(ask("kettle")), reasoning="It is \u202e00.05\u202c dol\u200blars.")
    assert handover.reasoning == "It is 00.05 dollars."
