"""Cases that stand right before the moment two want the same thing."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from agent.models import Approval, Run
from intake.models import Question, RefundRequest
from tests.agent.agreed_return import agreed_return
from tests.factories import ApprovalFactory, RequestFactory


def reviewed(request: RefundRequest) -> RefundRequest:
    """Its first run is long over."""
    request.runs.filter(trigger="request").update(status="done")
    return request


def open_card() -> Approval:
    card: Approval = ApprovalFactory()
    reviewed(card.request)
    return card


def with_question(asked_by: User, *, days_left: float = 3) -> RefundRequest:
    request = reviewed(RequestFactory(status="needs_customer"))
    reply_by = timezone.now() + timedelta(days=days_left)
    Question.objects.create(request=request, text="Which lid is it?", asked_by=asked_by, reply_by=reply_by)
    return request


def with_return(*, check: int = 1, days_left: float = 3) -> RefundRequest:
    """Waits for its parcel; the check with that number is due in `days_left`."""
    request = reviewed(RequestFactory(status="awaiting_return"))
    due_at = timezone.now() + timedelta(days=days_left)
    parcel = agreed_return(
        request, amount_minor=request.amount_minor, code=f"R{request.pk:07}", ship_by=due_at, check_at=due_at
    )
    if check == 2:
        Run.objects.filter(request=request, trigger="check").update(status="done")
        Run.objects.create(
            request=request, trigger="check", key=f"chk:{parcel.pk}:2", source_id=str(parcel.pk), due_at=due_at
        )
    return request


def due_run(request: RefundRequest, trigger: str) -> Run:
    return Run.objects.get(request=request, trigger=trigger, status="queued", due_at__lte=timezone.now())
