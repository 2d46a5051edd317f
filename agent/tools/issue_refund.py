"""`issue_refund`: asks the shop's rules whether this request may be paid now. The model names no amount."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from agent.outcomes import Blocked, Reserved
from agent.pay import refund_automatically
from agent.tools.arguments import Arguments, up_to
from agent.tools.context import Outcome, ReviewContext
from agent.tools.tool import Tool
from intake.rules import for_staff
from payments.money import format_minor

STAFF_ARE_IN = "Staff are in, so a person decides. Hand over with request_approval."


class IssueRefund(Arguments):
    reason: Annotated[str, up_to(500)] = Field(
        min_length=1, description="Why this request is small and clear, in one sentence."
    )


def run(context: ReviewContext, arguments: IssueRefund) -> Outcome:
    if not context.may_refund:
        return Outcome({"error": STAFF_ARE_IN}, "Automatic refund refused", STAFF_ARE_IN, failed=True)
    answer = refund_automatically(context.lease, context.evidence)
    context.verdicts = answer.verdicts
    if isinstance(answer, Reserved):
        amount = format_minor(context.request.amount_minor, context.request.currency)
        result, title = {"status": "reserved", "amount": amount}, f"Automatic refund of {amount} allowed"
        return Outcome(result, title, "Every rule of the shop allows it.", ending=answer)
    return _blocked(answer)


def _blocked(answer: Blocked) -> Outcome:
    rules = [{"rule": rule.rule, "sentence": rule.sentence} for rule in for_staff(answer.failed)]
    result = {
        "status": "blocked",
        "rules_that_ask_for_a_person": rules,
        "next": "End with request_approval. These rules are put on the card by the shop; do not repeat them.",
    }
    return Outcome(result, "Automatic refund blocked", " ".join(rule["sentence"] for rule in rules))


ISSUE_REFUND = Tool(
    name="issue_refund",
    description="Refunds this request now if every rule of the shop allows it; else returns every rule that asks for "
    "a person. The amount is the shop's, not yours.",
    arguments=IssueRefund,
    run=run,
    failed_title="Automatic refund refused",
    running_title="Checking the rules for an automatic refund",
    money=True,
)
