"""Does the work of one claimed run: first what a dead try left behind, then the job of its trigger."""

from __future__ import annotations

from collections.abc import Callable

from agent.finish_refund import settle_and_finish
from agent.give_up import end_leftover_steps
from agent.jobs.check import check_return
from agent.jobs.decision import carry_out_decision
from agent.jobs.late import put_silence_before_staff
from agent.jobs.outcome import apply_news
from agent.jobs.receipt import pay_what_came_back
from agent.jobs.reply import review_reply
from agent.jobs.review import review_request
from agent.lease import Lease
from agent.models import Run
from intake.models import Step
from intake.statuses import Status
from intake.timeline import Entry, write_step
from payments.models import Refund

UNDER_WAY = (Status.WORKING, Status.REFUNDING)
JOBS: dict[str, Callable[[Lease, Run], None]] = {
    Run.Trigger.REQUEST: review_request,
    Run.Trigger.DECISION: carry_out_decision,
    Run.Trigger.REPLY: review_reply,
    Run.Trigger.LATE: put_silence_before_staff,
    Run.Trigger.CHECK: check_return,
    Run.Trigger.RECEIPT: pay_what_came_back,
    Run.Trigger.OUTCOME: apply_news,
}


def carry_out(lease: Lease) -> None:
    """Brings the run to its end. Raises LeaseLost; any other exception means that this try failed."""
    run = Run.objects.select_related("request__line", "request__policy").get(pk=lease.run_id)
    if run.tries > 1 and _finish_what_was_begun(lease, run):
        return
    JOBS[run.trigger](lease, run)


def _finish_what_was_begun(lease: Lease, run: Run) -> bool:
    """A refund that a dead try of this run reserved decides how the run ends; True: it has ended."""
    with lease.fenced():
        end_leftover_steps(run)
        if run.request.status in UNDER_WAY:
            write_step(run.request_id, _again_step(run))
    refund_id = Refund.objects.filter(run_uuid=run.pk).values_list("pk", flat=True).first()
    if refund_id is None:
        return False
    settle_and_finish(lease, refund_id)
    return True


def _again_step(run: Run) -> Entry:
    """Without it the steps of two tries would read like one that did everything twice."""
    return Entry(
        kind=Step.Kind.TRIGGER,
        actor=Step.Actor.SYSTEM,
        title=f"Taken up again, try {run.tries}",
        detail="The try before did not come to its end. What it had begun with money is settled first.",
        run_uuid=run.pk,
    )
