"""A worker's right to write for a run. Whoever lost it can move no request and no money."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from agent.models import Run


class LeaseLost(Exception):
    """Another worker has the run, or its time is over: stop at once and write nothing."""


@dataclass(frozen=True)
class Lease:
    """`run_id` and `token` as claimed; `started_at` is when, and bounds the whole run to RUN_MAX_SECONDS. `tries`: how
    often the run was claimed, this time included."""

    run_id: uuid.UUID
    token: uuid.UUID
    request_id: int
    started_at: datetime
    tries: int

    @contextmanager
    def fenced(self) -> Iterator[None]:
        """A transaction whose first act is to prove and extend the lease. Raises LeaseLost; then nothing is written."""
        with transaction.atomic():
            self._prove_and_extend()
            yield

    def renew(self) -> None:
        """Extends the lease before a call to the outside. Raises LeaseLost."""
        with self.fenced():
            pass

    def end(self, status: Run.Status, result: str, **changes: object) -> None:
        """Ends the run; belongs into the fenced transaction that brings the request to rest. `changes`: Run fields."""
        Run.objects.filter(pk=self.run_id, token=self.token, status=Run.Status.RUNNING).update(
            status=status, result=result[:200], ended_at=timezone.now(), token=None, lease_until=None, **changes
        )

    @property
    def last_moment(self) -> datetime:
        """The lease never reaches past this."""
        return self.started_at + timedelta(seconds=settings.RUN_MAX_SECONDS)

    def _prove_and_extend(self) -> None:
        now = timezone.now()
        until = min(now + timedelta(seconds=settings.RUN_LEASE_SECONDS), self.last_moment)
        if until <= now:
            raise LeaseLost(f"run {self.run_id} has used up its time")
        held = Run.objects.filter(pk=self.run_id, token=self.token, status=Run.Status.RUNNING)
        if held.update(lease_until=until) == 0:
            raise LeaseLost(f"run {self.run_id} is not ours any more")
