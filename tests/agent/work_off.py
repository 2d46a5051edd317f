"""Works off a request's due runs as a worker would, one after another."""

from __future__ import annotations

from django.utils import timezone

from agent.models import Approval, Run
from agent.tasks import work
from intake.models import RefundRequest, Step

MOST_RUNS = 10


def work_off(request: RefundRequest) -> RefundRequest:
    """The request as it stands when nothing is due any more; it must come to rest within ten runs."""
    for _ in range(MOST_RUNS):
        due = Run.objects.filter(request=request, status="queued", due_at__lte=timezone.now())
        run = due.order_by("due_at", "id").first()
        if run is None:
            request.refresh_from_db()
            assert request.status not in ("submitted", "working")
            return request
        work(str(run.pk))
    raise AssertionError("the request never came to rest")


def wait_for(request: RefundRequest, trigger: str) -> RefundRequest:
    """Time passes until the queued run of `trigger` is due, and it is worked off."""
    changed = Run.objects.filter(request=request, trigger=trigger, status="queued").update(due_at=timezone.now())
    assert changed == 1
    return work_off(request)


def open_card(request: RefundRequest) -> Approval:
    return Approval.objects.get(request=request, closed_at=None)


def told(request: RefundRequest) -> list[str]:
    """The keys of what the customer was told, in order."""
    messages = Step.objects.filter(request=request, for_customer=True)
    return list(messages.order_by("position").values_list("message_key", flat=True))


def titles(request: RefundRequest) -> list[str]:
    """The titles of the steps only staff see, in order."""
    return list(Step.objects.filter(request=request, for_customer=False).values_list("title", flat=True))
