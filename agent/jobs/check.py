"""Looks whether a return has come: reminds once, closes after the second miss."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils import timezone

from agent import customer_messages
from agent.jobs.nothing_left import end_with_nothing_left
from agent.lease import Lease
from agent.models import Run
from agent.receivers import queue_run
from agent.runs import last_transaction
from intake.lifecycle import move
from intake.models import RefundRequest, Return, Step
from intake.shop_clock import deadline, ends_its_day
from intake.statuses import Status
from intake.timeline import Entry, write_step

# How long after the awaited day its check may come and still count with that day.
PROMPTLY = timedelta(hours=1)


def check_return(lease: Lease, run: Run) -> None:
    if not run.moved_request:
        end_with_nothing_left(lease)
    elif run.key.endswith(":1"):
        _remind(lease, run)
    else:
        _close(lease, run)


def _remind(lease: Lease, run: Run) -> None:
    now = timezone.now()
    again_at = second_check_at(run.due_at, now, timedelta(minutes=run.request.policy.return_check_minutes))
    with last_transaction(lease, "return missing: reminded"):
        move(run.request_id, Status.AWAITING_RETURN, sources=[Status.WORKING])
        if not _waiting(run).update(reminded_at=now, check_at=again_at):
            return  # it came while this run was looking: its receipt has a run of its own
        parcel = Return.objects.select_related("request").get(pk=run.source_id)
        queue_run(Run.Trigger.CHECK, f"chk:{parcel.pk}:2", run.request_id, parcel, due_at=again_at)
        write_step(
            run.request_id, _step(run, Step.Kind.TRIGGER, f"Return {parcel.code} checked", "It has not come yet.")
        )
        write_step(run.request_id, _step(run, Step.Kind.FINISH, "Reminded the customer", "Checked again once more."))
        write_step(run.request_id, customer_messages.return_reminder(run.pk, parcel))


def second_check_at(first_due: datetime, reminded_at: datetime, delay: timedelta) -> datetime:
    """One full delay after the reminder, however late that is; one that came as soon as the awaited day was over
    counts with that day."""
    in_time = ends_its_day(first_due) and reminded_at - first_due < PROMPTLY
    return deadline(first_due if in_time else reminded_at, delay)


def _close(lease: Lease, run: Run) -> None:
    with last_transaction(lease, "return missing: closed"):
        # The request's row before the return's, as when a receipt is recorded.
        RefundRequest.objects.select_for_update(no_key=True).only("pk").get(pk=run.request_id)
        if not _waiting(run).update(status=Return.Status.CLOSED):
            move(run.request_id, Status.AWAITING_RETURN, sources=[Status.WORKING])
            return
        move(run.request_id, Status.CLOSED, sources=[Status.WORKING])
        code = Return.objects.values_list("code", flat=True).get(pk=run.source_id)
        write_step(run.request_id, _step(run, Step.Kind.TRIGGER, f"Return {code} checked again", "It has not come."))
        write_step(run.request_id, _step(run, Step.Kind.FINISH, "Closed the request", "The return never came."))
        write_step(run.request_id, customer_messages.closed(run.pk))


def _waiting(run: Run) -> QuerySet[Return]:
    return Return.objects.filter(pk=run.source_id, status=Return.Status.WAITING)


def _step(run: Run, kind: Step.Kind, title: str, detail: str) -> Entry:
    actor = Step.Actor.SYSTEM if kind == Step.Kind.TRIGGER else Step.Actor.AGENT
    return Entry(kind=kind, actor=actor, title=title, detail=detail, run_uuid=run.pk)
