"""Moves a refund request from one status to another by compare-and-set; the allowed moves are in `statuses.MOVES`."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import models
from django.utils import timezone

from intake.models import RefundRequest
from intake.statuses import ENDS, Status, sources_of


class MoveRefused(Exception):
    """The request was not in a status from which this move is allowed; nothing was changed."""

    def __init__(self, request_id: int, to: Status, sources: Iterable[Status]) -> None:
        super().__init__(f"request {request_id} may not move to {to} (allowed from {sorted(sources)})")
        self.request_id = request_id
        self.to = to


def try_move(request_id: int, to: Status, *, sources: Iterable[Status] | None = None) -> bool:
    """Moves the request to `to` if it stands in an allowed status (narrowed by `sources`); False: nothing happened.

    A move away from an end marks the request as `reopened`, so that it is not counted as the line's open request.
    """
    from_statuses = sources_of(to) if sources is None else sources_of(to) & frozenset(sources)
    changes: dict[str, object] = {"status": to, "status_changed_at": timezone.now()}
    if from_statuses & ENDS:
        changes["reopened"] = models.Case(
            models.When(status__in=sorted(ENDS), then=models.Value(True)), default=models.F("reopened")
        )
    return RefundRequest.objects.filter(pk=request_id, status__in=sorted(from_statuses)).update(**changes) == 1


def move(request_id: int, to: Status, *, sources: Iterable[Status] | None = None) -> None:
    """Like `try_move`, but raises `MoveRefused` when nothing was changed, so that the transaction is undone."""
    if not try_move(request_id, to, sources=sources):
        raise MoveRefused(request_id, to, sources_of(to) if sources is None else sources)
