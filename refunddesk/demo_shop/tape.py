"""Writes history: rows that are inserted without news, and a timeline whose steps carry the times they had."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar
from uuid import UUID

from django.db.models import Model

from intake.models import RefundRequest, Step
from intake.timeline import DETAIL_LENGTH, TITLE_LENGTH, Entry, shorten

Row = TypeVar("Row", bound=Model)


def insert(row: Row) -> Row:
    """Saves a new row without the signal that would start a run for it."""
    type(row)._default_manager.bulk_create([row])
    return row


class Tape:
    """The timeline of one request; `now` is the moment it has been played up to."""

    def __init__(self, request: RefundRequest, start: datetime) -> None:
        self.request = request
        self.now = start
        self._steps: list[Step] = []
        self._rev = 0

    def wait(self, span: timedelta) -> datetime:
        self.now += span
        return self.now

    def add(self, entry: Entry) -> Step:
        """A step at this moment; one that took time is written twice (running, then done) and ends `now` later."""
        self._rev += 1
        position, started = self._rev, self.now
        if entry.duration_ms is not None:
            self.wait(timedelta(milliseconds=entry.duration_ms))
        if entry.tool in ("inspect_photo", "issue_refund"):
            self._rev += 1
        step = Step(
            request=self.request,
            rev=self._rev,
            position=position,
            created_at=started,
            **{
                **vars(entry),
                "title": shorten(entry.title, TITLE_LENGTH),
                "detail": shorten(entry.detail, DETAIL_LENGTH),
            },
        )
        self._steps.append(step)
        return step

    def add_all(self, run_id: UUID, entries: list[Entry]) -> dict[str, int]:
        """Steps of one run; returns the position of the last step of each tool."""
        steps = [self.add(replace(entry, run_uuid=run_id)) for entry in entries]
        return {step.tool: step.position for step in steps}

    def save(self) -> None:
        """Inserts what was added since the last time and brings the request's `rev` up to it."""
        Step.objects.bulk_create(self._steps)
        self._steps = []
        RefundRequest.objects.filter(pk=self.request.pk).update(rev=self._rev)
