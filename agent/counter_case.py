"""The case against a recommendation: the model's own, or the shop's strongest rule where the model gave none."""

from __future__ import annotations

from agent.models import Approval
from agent.outcomes import Handover, Point
from intake.rules import Verdict, for_staff

CHANGE_LENGTH = 240
# A failed rule speaks against paying, so it is no argument against a decline or a question.
PAYS = frozenset(
    {
        Approval.Recommendation.REFUND,
        Approval.Recommendation.REFUND_AFTER_RETURN,
        Approval.Recommendation.MANUAL_REVIEW,
    }
)
# The evidence first, then the customer's record, then the amount; what the shop has switched off says least.
STRONGEST_FIRST = ("photo", "window", "history", "limit", "reason", "budget", "paused")


def strongest_reason_against(handover: Handover) -> Point | None:
    """What the model said against its recommendation, else the strongest failed rule; None when there is neither.

    A manual review has no recommendation of the model's; the rule then speaks against paying.
    """
    said = handover.counter_case
    if said is not None and said.text.strip() and handover.recommendation != Approval.Recommendation.MANUAL_REVIEW:
        return said
    failed = for_staff(handover.failed_rules)
    if handover.recommendation not in PAYS or not failed:
        return None
    return Point(min(failed, key=_weight).sentence, handover.rules_step, "rule")


def _weight(verdict: Verdict) -> int:
    """Its place in STRONGEST_FIRST; a rule that is not named there comes last."""
    return STRONGEST_FIRST.index(verdict.rule) if verdict.rule in STRONGEST_FIRST else len(STRONGEST_FIRST)
