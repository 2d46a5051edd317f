"""A review that sees a clear photo, without a model: it refunds where it may and the rules allow it."""

from __future__ import annotations

from agent.lease import Lease
from agent.outcomes import Blocked, Handover, PhotoEvidence, ReviewResult
from agent.pay import refund_automatically
from intake.models import Step
from intake.timeline import Entry, write_step

SEEN = PhotoEvidence(verdict="yes", explanation="The photo shows it broken.")


def clear_review(lease: Lease, *, may_refund: bool) -> ReviewResult:
    """In place of `agent.jobs.review.review`."""
    with lease.fenced():
        write_step(lease.request_id, _look(lease))
    if not may_refund:
        return Handover(recommendation="refund", reasoning="It is broken.")
    answer = refund_automatically(lease, SEEN)
    if isinstance(answer, Blocked):
        return Handover(recommendation="refund", reasoning="It is broken.", failed_rules=answer.failed)
    return answer


def _look(lease: Lease) -> Entry:
    return Entry(
        kind=Step.Kind.TOOL,
        actor=Step.Actor.AGENT,
        title="Inspected the photo",
        run_uuid=lease.run_id,
        tool="inspect_photo",
        result={"pictures": 1, "verdict": SEEN.verdict, "explanation": SEEN.explanation},
    )
