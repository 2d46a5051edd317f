"""While a copy is played, its row says until when it surely was: a worker that is gone stops saying so."""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import DatabaseError, connection
from django.utils import timezone

from agent.models import Evaluation

logger = logging.getLogger(__name__)

EVERY_SECONDS = 5.0
# Several signs were missed, so it is no slow moment of the worker or the database.
SILENT_AFTER = timedelta(seconds=45)


@contextmanager
def signs_of_life(evaluation_id: uuid.UUID) -> Iterator[None]:
    """Until the block ends, `ended_at` of the running row is never older than a few seconds."""
    over = threading.Event()
    giving = threading.Thread(target=_give_until, args=(over, evaluation_id), name="signs-of-life", daemon=True)
    giving.start()
    try:
        yield
    finally:
        over.set()
        giving.join()


def is_silent(evaluation: Evaluation, now: datetime) -> bool:
    """Of one that is `running`; one that never gave a sign is not silent."""
    return evaluation.ended_at is not None and now - evaluation.ended_at > SILENT_AFTER


def _give_until(over: threading.Event, evaluation_id: uuid.UUID) -> None:
    mine = Evaluation.objects.filter(pk=evaluation_id, status=Evaluation.Status.RUNNING)
    while not over.wait(EVERY_SECONDS):
        try:
            mine.update(ended_at=timezone.now())
        except DatabaseError as error:  # the next one may come through
            logger.warning("the copy %s could not give a sign of life: %s", evaluation_id, error)
        finally:
            connection.close()
