"""What the database says after one thing has happened, read once for all the rules that look at it."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from django.utils import timezone

from agent.models import Approval, Run
from intake.models import RefundRequest, Step
from payments.models import LIVE_REFUND_STATUSES, Refund

READS = ("SELECT", "SAVEPOINT", "RELEASE SAVEPOINT")


class Writes:
    """Put around every statement: whether one may have written since it was last asked. Reading again what stands as
    it stood would take most of a life's time."""

    def __init__(self) -> None:
        self._seen = True

    def __call__(self, execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        self._seen = self._seen or not sql.startswith(READS)
        return execute(sql, *rest)

    def since_last_asked(self) -> bool:
        seen, self._seen = self._seen, False
        return seen


class Rows:
    def __init__(self) -> None:
        self.requests = list(RefundRequest.objects.order_by("pk"))
        self.refunds = list(Refund.objects.order_by("pk"))
        self.by_uuid = {request.uuid: request for request in self.requests}
        self.open_cards = Counter(Approval.objects.filter(closed_at=None).values_list("request_id", flat=True))
        self._unfinished = list(Run.objects.filter(status__in=["queued", "running"]))
        self._read: dict[int, list[Step]] = defaultdict(list)
        for step in Step.objects.filter(for_customer=True).order_by("position"):
            self._read[step.request_id].append(step)

    @property
    def live(self) -> list[Refund]:
        return [refund for refund in self.refunds if refund.status in LIVE_REFUND_STATUSES]

    @property
    def live_of_requests(self) -> list[tuple[Refund, RefundRequest]]:
        return [(one, self.by_uuid[one.request_uuid]) for one in self.live if one.request_uuid is not None]

    @property
    def busy(self) -> set[int]:
        """Requests with a run at work, or one whose time has come."""
        now = timezone.now()
        return {run.request_id for run in self._unfinished if run.due_at <= now}

    def outcome_is_to_be_told(self, request: RefundRequest) -> bool:
        return any(run.request_id == request.pk and run.trigger == Run.Trigger.OUTCOME for run in self._unfinished)

    def refunds_of(self, request_uuid: uuid.UUID) -> list[Refund]:
        """The first try first."""
        return sorted((one for one in self.refunds if one.request_uuid == request_uuid), key=lambda one: one.attempt)

    def read_by_customer(self, request: RefundRequest) -> list[Step]:
        return self._read[request.pk]
