"""What shop, staff and agent do to Priya's orders and requests, straight in the database of a running desk."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from agent.handover import withdraw_what_is_out
from intake.models import Question, RefundRequest, Return, Step
from intake.policy_in_force import policy_in_force
from intake.statuses import Status
from intake.timeline import Entry, write_step
from payments.models import OrderLine
from tests.factories import ChargeFactory, LineFactory, OrderFactory, RequestFactory

SKU = "CAR-600"


def sell(units: int = 1) -> str:
    """A delivered line of an order of its own; returns the order's number."""
    number = f"PH-{uuid.uuid4().hex[:8]}"
    priya = User.objects.get(username="priya.raman@example.com")
    line = LineFactory(order=OrderFactory(customer=priya, number=number), sku=SKU, quantity=units)
    ChargeFactory(order=line.order, reference=f"ch_{number}", captured_minor=line.paid_minor)
    return number


def take_in(order: str = "") -> str:
    """A request, for that order or a new one, that waits for staff; returns its UUID."""
    line = OrderLine.objects.get(order__number=order or sell())
    request = RequestFactory(line=line, policy=policy_in_force(), status=Status.NEEDS_APPROVAL)
    tell(str(request.uuid), "You asked for a refund")
    return str(request.uuid)


def tell(request: str, title: str) -> None:
    with transaction.atomic():
        step = Entry(kind=Step.Kind.MESSAGE, actor=Step.Actor.AGENT, title=title, for_customer=True)
        write_step(RefundRequest.objects.get(uuid=request).pk, step)


def ask(request: str, text: str) -> None:
    staff, until = User.objects.filter(is_staff=True).earliest("pk"), timezone.now() + timedelta(days=14)
    with transaction.atomic():
        row = _moved(request, Status.NEEDS_CUSTOMER)
        Question.objects.create(request=row, text=text, asked_by=staff, reply_by=until)
        tell(request, "We have a question")


def take_back(request: str) -> None:
    with transaction.atomic():
        _moved(request, Status.NEEDS_APPROVAL)
        tell(request, "Nothing is left to answer")


def want_it_back(request: str) -> None:
    soon = timezone.now() + timedelta(days=7)
    with transaction.atomic():
        row = _moved(request, Status.AWAITING_RETURN)
        parcel: dict[str, Any] = {"code": "RMA-7KQ2MX", "amount_minor": row.amount_minor}
        Return.objects.create(request=row, ship_by=soon, check_at=soon, **parcel)
        tell(request, "Please send it back")


def _moved(request: str, status: Status) -> RefundRequest:
    row = RefundRequest.objects.get(uuid=request)
    withdraw_what_is_out(row.pk)
    RefundRequest.objects.filter(pk=row.pk).update(status=status)
    return row
