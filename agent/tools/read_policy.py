"""`read_policy`: one section of the policy version this request was asked under."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from agent.tools.arguments import Arguments
from agent.tools.context import Outcome, ReviewContext
from agent.tools.tool import Tool
from intake.models import PolicySection, PolicyVersion
from intake.policy_texts import render_section

Topic = Literal[
    "overview", "automatic_refunds", "damaged_in_transit", "defective", "wrong_item", "changed_mind", "returns"
]


class ReadPolicy(Arguments):
    topic: Topic = Field(description="The section to read.")


def run(context: ReviewContext, arguments: ReadPolicy) -> Outcome:
    policy = context.request.policy
    section = policy.sections.filter(topic=arguments.topic).first()
    name = PolicySection.Topic(arguments.topic).label.lower()
    if section is None:
        return Outcome(
            {"error": f"Policy {policy.number} has no section on {name}."}, f"Found no policy: {name}", failed=True
        )
    section.policy = policy
    result = {
        "policy_version": policy.number,
        "topic": arguments.topic,
        "title": section.title,
        "text": render_section(section),
        "numbers": _numbers(policy),
    }
    return Outcome(result, f"Read policy: {name}", f"Policy {policy.number}, {section.title}")


def _numbers(policy: PolicyVersion) -> dict[str, Any]:
    """Amounts in minor units of `currency`; above them (not at them) goods come back first."""
    return {
        "currency": policy.currency,
        "refund_window_days": policy.refund_window_days,
        "warranty_days": policy.warranty_days,
        "return_above_minor": policy.return_above_minor,
        "wrong_item_return_above_minor": policy.wrong_item_return_above_minor,
    }


READ_POLICY = Tool(
    name="read_policy",
    description="One section of the shop's refund policy, with its numbers (amounts in minor units).",
    arguments=ReadPolicy,
    run=run,
    failed_title="Could not read the policy",
)
