"""Rings Celery's bell for a queued run. The row is the queue: a bell that is not heard costs time and nothing else."""

from __future__ import annotations

import logging
import uuid

from celery import current_app
from django.db import transaction
from django.utils import timezone

from agent.models import Run

logger = logging.getLogger(__name__)

WORK_TASK = "agent.tasks.work"


def announce_after_commit(run_id: uuid.UUID) -> None:
    """Tells the workers of a queued run once its row can be read."""
    transaction.on_commit(lambda: ring(run_id), robust=True)


def announce_next_after_commit(request_id: int) -> None:
    """Tells the workers of the request's next due run; it is looked for after the commit, when every row is there."""
    transaction.on_commit(lambda: _ring_next(request_id), robust=True)


def ring(run_id: uuid.UUID) -> bool:
    """Sends the run's number to the broker. False: the broker is away; the next sweep announces the run again."""
    try:
        current_app.send_task(WORK_TASK, args=[str(run_id)], ignore_result=True, retry=False)
    except Exception as error:  # whatever the broker's client raises, the row is saved and the sweep finds it
        logger.warning("run %s could not be announced: %s", run_id, error)
        Run.objects.filter(pk=run_id, status=Run.Status.QUEUED).update(announced_at=None)
        return False
    return True


def _ring_next(request_id: int) -> None:
    now = timezone.now()
    due = Run.objects.filter(request_id=request_id, status=Run.Status.QUEUED, due_at__lte=now)
    run_id = due.order_by("due_at", "id").values_list("id", flat=True).first()
    if run_id is not None and ring(run_id):
        Run.objects.filter(pk=run_id, status=Run.Status.QUEUED).update(announced_at=now)
