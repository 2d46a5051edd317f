"""Nobody answered in time: the request goes back to staff."""

from __future__ import annotations

from agent import customer_messages
from agent.handover import handed_over_step, manual_card, put_before_staff
from agent.jobs.nothing_left import end_with_nothing_left
from agent.lease import Lease
from agent.models import Run
from agent.runs import last_transaction
from intake.models import Step
from intake.statuses import Status
from intake.timeline import Entry, write_step


def put_silence_before_staff(lease: Lease, run: Run) -> None:
    """Only for the question the request was waiting on, which the claim has made sure of by moving the request."""
    if not run.moved_request:
        end_with_nothing_left(lease)
        return
    days = run.request.policy.reply_days
    with last_transaction(lease, "no answer: back to staff"):
        card = manual_card(run.request, f"The customer has not answered the question within {days} days.")
        write_step(run.request_id, _trigger_step(run, days))
        approval = put_before_staff(run.request, card, run_id=run.pk, sources=[Status.WORKING])
        write_step(run.request_id, handed_over_step(approval, run.request, run.pk))
        write_step(run.request_id, customer_messages.no_answer_yet(run.pk))


def _trigger_step(run: Run, days: int) -> Entry:
    return Entry(
        kind=Step.Kind.TRIGGER,
        actor=Step.Actor.SYSTEM,
        title=f"No answer within {days} days",
        run_uuid=run.pk,
    )
