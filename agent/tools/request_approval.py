"""`request_approval`: ends the review with a recommendation to staff."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from agent.customer_words import has_markup
from agent.models import Approval
from agent.outcomes import Point
from agent.prompts.fence import one_line
from agent.staff_names import names_one_of, staff_names
from agent.tools.arguments import Arguments, at_most, up_to
from agent.tools.context import Outcome, ReviewContext
from agent.tools.tool import Tool

MAX_POINTS = 5
FAILED = "Recommendation not accepted"
PLAIN_WORDS = "draft_question is for the customer: plain words only, without markup, links or names of tools."
NO_NAMES = "draft_question is for the customer: name nobody of the staff, write `we` or `our team`."


class Claim(Arguments):
    """One finding or concern and the tool whose result it rests on."""

    text: Annotated[str, up_to(240)] = Field(min_length=1, description="One plain sentence of at most 240 characters.")
    source: Literal["get_order", "get_refund_history", "read_policy", "inspect_photo", "issue_refund"] | None = Field(
        description="The tool whose result it rests on; null for your own opinion."
    )


class CounterCase(Claim):
    """The claim that speaks loudest against the recommendation; one without a word is as good as none."""

    text: Annotated[str, up_to(240)] = Field(
        description="The strongest reason against your own recommendation: one plain, specific sentence of at most 240 "
        "characters."
    )


class RequestApproval(Arguments):
    """The schema asks for every field; a model that leaves out `counter_case` or `would_change` is not sent back for
    it, since the shop's code has an answer for that."""

    recommendation: Literal["refund", "refund_after_return", "decline", "ask_customer"]
    findings: Annotated[list[Claim], at_most(MAX_POINTS)] = Field(description="At most 5: what supports it.")
    concerns: Annotated[list[Claim], at_most(MAX_POINTS)] = Field(description="At most 5: what speaks against it.")
    reasoning: Annotated[str, up_to(2000)] = Field(min_length=1, description="Why, in two to four sentences.")
    counter_case: CounterCase | SkipJsonSchema[None] = None
    would_change: Annotated[str | SkipJsonSchema[None], up_to(240)] = Field(
        default=None,
        description="The one fact that, if it were so, would change your recommendation; one sentence of at most 240 "
        "characters.",
    )
    draft_question: Annotated[str, up_to(500)] = Field(
        description="For ask_customer: the question; else an empty string."
    )

    @model_validator(mode="after")
    def question_is_there(self) -> RequestApproval:
        if self.recommendation == "ask_customer" and not self.draft_question:
            raise ValueError("ask_customer needs a draft_question")
        return self


def run(context: ReviewContext, arguments: RequestApproval) -> Outcome:
    question = arguments.draft_question if arguments.recommendation == "ask_customer" else ""
    unfit = _unfit(context, question)
    if unfit:
        return Outcome({"error": unfit}, FAILED, unfit, failed=True)
    rules_were_asked = context.verdicts is not None
    handover = context.hand_over(
        arguments.recommendation,
        reasoning=arguments.reasoning,
        findings=_points(context, arguments.findings),
        concerns=_points(context, arguments.concerns),
        draft_question=question,
    )
    complete = replace(
        handover,
        rules_step=context.positions.get("issue_refund") if rules_were_asked else None,
        counter_case=_counter_case(context, arguments.counter_case),
        would_change=arguments.would_change or "",
    )
    name = Approval.Recommendation(arguments.recommendation).label
    return Outcome({"status": "handed over"}, f"Recommended: {name.lower()}", arguments.reasoning, ending=complete)


def _unfit(context: ReviewContext, question: str) -> str:
    """Why a staff member may not send the question on with one click; whoever a customer's text names as staff stays
    inside. The article's own name may hold whatever the shop calls it."""
    item = re.escape(one_line(context.request.line.name))
    words = re.sub(item, "", question, flags=re.IGNORECASE)
    if has_markup(words):
        return PLAIN_WORDS
    return NO_NAMES if words and names_one_of(words, staff_names(context.request.pk)) else ""


def _counter_case(context: ReviewContext, claim: CounterCase | None) -> Point | None:
    return _points(context, [claim])[0] if claim is not None and claim.text else None


def _points(context: ReviewContext, claims: Sequence[Claim]) -> tuple[Point, ...]:
    """A claim that names a tool which did not run in this review rests on nothing but the model's word."""
    return tuple(Point(claim.text, context.positions.get(claim.source or "")) for claim in claims)


REQUEST_APPROVAL = Tool(
    name="request_approval",
    description="Hands the case to staff with your recommendation. This ends the review.",
    arguments=RequestApproval,
    run=run,
    failed_title=FAILED,
)
