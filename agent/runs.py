"""A run's way through a worker: claimed by one, given back when the worker stumbles, ended together with its work."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from agent.announce import announce_next_after_commit
from agent.lease import Lease
from agent.models import Run
from intake.lifecycle import try_move
from intake.models import Question, Return
from intake.statuses import Status

# For these triggers the claim moves the request to `working`; decisions and replies move it when they are made.
CLAIM_MOVES_FROM = {
    Run.Trigger.REQUEST: Status.SUBMITTED,
    Run.Trigger.LATE: Status.NEEDS_CUSTOMER,
    Run.Trigger.CHECK: Status.AWAITING_RETURN,
    Run.Trigger.RECEIPT: Status.AWAITING_RETURN,
}


def claim(run_id: uuid.UUID) -> Lease | None:
    """Takes a due, queued run for this worker, with a fresh token, and moves its request where the trigger asks for it.

    None: not due, not queued any more, behind another due run of its request, or that request has a running run; it
    then stays as it is and is announced again when that one ends.
    """
    now, token = timezone.now(), uuid.uuid4()
    try:
        with transaction.atomic():
            if not _take(run_id, token, now):
                return None
            run = Run.objects.select_related("request__policy").get(pk=run_id)
            moved = run.moved_request or _move_request(run)
            Run.objects.filter(pk=run_id).update(moved_request=moved, policy_number=run.request.policy.number)
    except IntegrityError:  # one running run per request, by constraint
        return None
    return Lease(run_id=run_id, token=token, request_id=run.request_id, started_at=now, tries=run.tries)


def give_back(lease: Lease) -> bool:
    """Queues the run again after its worker stumbled; the sweep announces it a minute later.

    False: it is not ours any more, or has had all its tries.
    """
    ours = Run.objects.filter(pk=lease.run_id, token=lease.token, status=Run.Status.RUNNING)
    return requeue(ours.filter(tries__lt=settings.RUN_MAX_TRIES)) == 1


def requeue(runs: QuerySet[Run]) -> int:
    """Queues running runs again; whoever held them has lost them. Returns how many."""
    return runs.filter(status=Run.Status.RUNNING).update(
        status=Run.Status.QUEUED, token=None, lease_until=None, announced_at=timezone.now()
    )


@contextmanager
def last_transaction(lease: Lease, result: str) -> Iterator[None]:
    """The fenced transaction that brings a request to rest: it also ends the run and lets the next one be told.

    `result` says how it ended, for staff. Raises LeaseLost before anything is written.
    """
    with lease.fenced():
        yield
        lease.end(Run.Status.DONE, result)
        announce_next_after_commit(lease.request_id)


def _take(run_id: uuid.UUID, token: uuid.UUID, now: datetime) -> bool:
    before = Q(due_at__lt=OuterRef("due_at")) | Q(due_at=OuterRef("due_at"), id__lt=OuterRef("id"))
    earlier = Run.objects.filter(before, request_id=OuterRef("request_id"), status=Run.Status.QUEUED)
    due = Run.objects.filter(~Exists(earlier), pk=run_id, status=Run.Status.QUEUED, due_at__lte=now)
    changed = due.update(
        status=Run.Status.RUNNING,
        token=token,
        lease_until=now + timedelta(seconds=settings.RUN_LEASE_SECONDS),
        started_at=now,
        tries=F("tries") + 1,
    )
    return changed == 1


def _move_request(run: Run) -> bool:
    """False when the request waits for something else by now: the run then finds nothing left to do."""
    source = CLAIM_MOVES_FROM.get(Run.Trigger(run.trigger))
    if source is None or not _still_awaited(run):
        return False
    return try_move(run.request_id, Status.WORKING, sources=[source])


def _still_awaited(run: Run) -> bool:
    if run.trigger == Run.Trigger.LATE:
        return Question.objects.filter(pk=run.source_id, withdrawn_at=None, reply=None).exists()
    if run.trigger == Run.Trigger.CHECK:
        return Return.objects.filter(pk=run.source_id, status=Return.Status.WAITING).exists()
    return True
