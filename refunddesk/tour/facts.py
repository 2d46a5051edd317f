"""What the tour reads beside the API, and the one thing it moves: when a return check of its own requests is due."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from agent.announce import ring
from agent.models import Decision, Run
from intake.models import RefundRequest, Return, Step
from payments.models import Refund


@dataclass(frozen=True)
class RefundFact:
    """Money of one request: minor units, the refund's status, and whether no person was asked."""

    amount_minor: int
    status: str
    automatic: bool


def request_is_here(request_id: str) -> bool:
    """False when the demo that answers has another database than this command."""
    return RefundRequest.objects.filter(uuid=request_id).exists()


def refunds_of(request_id: str) -> list[RefundFact]:
    refunds = Refund.objects.filter(request_uuid=request_id).order_by("attempt")
    return [RefundFact(refund.amount_minor, refund.status, refund.automatic) for refund in refunds]


def triggers_of(request_id: str) -> list[str]:
    """What started each of the request's runs that have worked, in their order."""
    runs = Run.objects.filter(request__uuid=request_id, started_at__isnull=False).order_by("started_at")
    return list(runs.values_list("trigger", flat=True))


def decisions_on(request_id: str) -> int:
    return Decision.objects.filter(approval__request__uuid=request_id).count()


def photo_sources_of(request_id: str, trigger: str) -> list[Any]:
    """Which pictures the runs of `trigger` looked at: `request` or `latest_answer`, once for each look."""
    runs = Run.objects.filter(request__uuid=request_id, trigger=trigger).values("pk")
    looks = Step.objects.filter(run_uuid__in=runs, tool="inspect_photo", state=Step.State.DONE)
    return [(step.arguments or {}).get("source") for step in looks]


def staff_steps_after(request_id: str, rev: int) -> list[Step]:
    """Finished steps that only staff see and that were written after `rev`."""
    steps = Step.objects.filter(request__uuid=request_id, for_customer=False, rev__gt=rev)
    return list(steps.exclude(state=Step.State.RUNNING).select_related("actor_user").order_by("rev"))


def make_check_due(request_id: str) -> bool:
    """Moves the next return check of this request to now and rings for it; False: none was planned."""
    now = timezone.now()
    runs = Run.objects.filter(
        request__uuid=uuid.UUID(request_id), trigger=Run.Trigger.CHECK, status=Run.Status.QUEUED, due_at__gt=now
    )
    run = runs.order_by("due_at").first()
    if run is None:
        return False
    Return.objects.filter(pk=run.source_id, status=Return.Status.WAITING).update(check_at=now)
    Run.objects.filter(pk=run.pk, status=Run.Status.QUEUED).update(due_at=now, announced_at=now)
    ring(run.pk)
    return True
