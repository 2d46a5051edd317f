"""A new request: the agent reviews it, and may refund it."""

from __future__ import annotations

from dataclasses import replace

from agent.camera_concern import with_camera_concern
from agent.finish_refund import settle_and_finish
from agent.handover import hand_over
from agent.jobs.arrived import noted_since, what_came
from agent.jobs.nothing_left import end_with_nothing_left
from agent.lease import Lease
from agent.loop import review
from agent.models import Run
from agent.outcomes import Handover, Point, Reserved
from intake.statuses import Status


def review_request(lease: Lease, run: Run) -> None:
    review_and_end(lease, run, may_refund=True)


def review_and_end(lease: Lease, run: Run, *, may_refund: bool) -> None:
    """One review, whose result ends the run: money on its way, or a card for staff."""
    if run.request.status != Status.WORKING:
        end_with_nothing_left(lease)
        return
    result = review(lease, may_refund=may_refund)
    if isinstance(result, Reserved):
        settle_and_finish(lease, result.refund_id)
    else:
        hand_over(lease, _with_parcel_concern(with_camera_concern(result, run.request), run))


def _with_parcel_concern(handover: Handover, run: Run) -> Handover:
    """A parcel that came when this review was about to begin was only noted; staff read of it on the card."""
    came = [Point(f"{what_came(receipt)}.", source="code") for receipt in noted_since(run.request_id, run.created_at)]
    return replace(handover, concerns=(*came, *handover.concerns)) if came else handover
