"""Which icon and which colour stand for a status, a recommendation, a step. Colour means state and nothing else."""

from __future__ import annotations

from django import template

from agent.models import Approval
from desk.activity import Activity
from desk.rule_names import rule_name
from intake.models import Step
from intake.statuses import Status

register = template.Library()

STATUS_TONES = {
    Status.SUBMITTED: "agent",
    Status.WORKING: "agent",
    Status.REFUNDING: "agent",
    Status.NEEDS_APPROVAL: "person",
    Status.NEEDS_CUSTOMER: "customer",
    Status.AWAITING_RETURN: "quiet",
    Status.REFUNDED: "paid",
    Status.DECLINED: "no",
    Status.CLOSED: "quiet",
}
RECOMMENDATION_TONES = {
    Approval.Recommendation.REFUND: "paid",
    Approval.Recommendation.REFUND_AFTER_RETURN: "quiet",
    Approval.Recommendation.DECLINE: "no",
    Approval.Recommendation.ASK_CUSTOMER: "customer",
    Approval.Recommendation.MANUAL_REVIEW: "person",
}
TOOL_ICONS = {
    "get_order": "package",
    "get_refund_history": "history",
    "read_policy": "book-open",
    "inspect_photo": "eye",
    "issue_refund": "hand-coins",
    "request_approval": "hourglass",
}
KIND_ICONS = {
    Step.Kind.TOOL: "wrench",
    Step.Kind.ACTION: "check",
    Step.Kind.MESSAGE: "message-square",
    Step.Kind.ERROR: "octagon-x",
    Step.Kind.FINISH: "flag",
}
ACTOR_ICONS = {
    Step.Actor.AGENT: "sparkle",
    Step.Actor.STAFF: "user",
    Step.Actor.CUSTOMER: "message-square",
    Step.Actor.SYSTEM: "timer",
}
ACTOR_TONES = {
    Step.Actor.AGENT: "agent",
    Step.Actor.STAFF: "person",
    Step.Actor.CUSTOMER: "customer",
    Step.Actor.SYSTEM: "quiet",
}


@register.filter
def status_tone(status: str) -> str:
    return STATUS_TONES[Status(status)]


@register.filter
def recommendation_tone(recommendation: str) -> str:
    return RECOMMENDATION_TONES[Approval.Recommendation(recommendation)]


@register.filter
def reason_in_short(card: Approval) -> str:
    """Why a person has to look: the first failed rule in a word or two and how many more there are, else the number of
    concerns."""
    if not card.failed_rules:
        return {0: "", 1: "1 concern"}.get(len(card.concerns), f"{len(card.concerns)} concerns")
    first = str(card.failed_rules[0].get("rule", ""))
    more = f" +{len(card.failed_rules) - 1}" if len(card.failed_rules) > 1 else ""
    return rule_name(first).failed + more


@register.filter
def step_title(activity: Activity, position: int) -> str:
    """The title of the step at `position`; empty when that step is not on the page."""
    return activity.titles.get(position, "")


@register.filter
def step_icon(step: Step) -> str:
    """The tool's icon, else that of the kind, else of who acted."""
    if step.state == Step.State.FAILED or _was_blocked(step):
        return "triangle-alert"
    if step.tool in TOOL_ICONS:
        return TOOL_ICONS[step.tool]
    if step.kind == Step.Kind.TRIGGER or step.actor in (Step.Actor.STAFF, Step.Actor.CUSTOMER):
        return ACTOR_ICONS[Step.Actor(step.actor)]
    return KIND_ICONS[Step.Kind(step.kind)]


@register.filter
def step_tone(step: Step) -> str:
    if step.kind == Step.Kind.ERROR or step.state == Step.State.FAILED:
        return "no"
    return ACTOR_TONES[Step.Actor(step.actor)]


def _was_blocked(step: Step) -> bool:
    return isinstance(step.result, dict) and step.result.get("status") == "blocked"
