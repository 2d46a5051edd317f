"""Rows the desk's tests stand on: people of each kind, a case before staff with its timeline."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import transaction
from django.utils import timezone

from agent.models import Approval, Run
from intake.models import RefundRequest, Step
from intake.timeline import Entry, write_step
from tests.behind_the_book import behind_the_book
from tests.factories import (
    ApprovalFactory,
    CustomerFactory,
    LineFactory,
    OrderFactory,
    RequestFactory,
    RunFactory,
    StaffFactory,
)


def member_of(group: str, first_name: str = "Maya", last_name: str = "Okafor") -> User:
    """A staff member with what the group may do."""
    user = CustomerFactory(
        username=f"{first_name}.{group}.{uuid.uuid4().hex[:6]}@example.com".lower(),
        first_name=first_name,
        last_name=last_name,
        is_staff=True,
    )
    user.groups.add(Group.objects.get(name=group))
    return user


def onlooker() -> User:
    """Staff who may see the requests and do nothing."""
    return StaffFactory(permissions=["intake.view_refundrequest"])


def kettle_request(status: str = "needs_approval", **changes: Any) -> RefundRequest:
    """Priya's kettle: 129.00, on an order with 8.00 of shipping."""
    customer = CustomerFactory(first_name="Priya", last_name="Raman")
    order = OrderFactory(customer=customer, shipping_minor=800)
    line = LineFactory(order=order, name="Gooseneck kettle, 0.9 L", unit_price_minor=12900)
    request = RequestFactory(line=line, status=status, charged=False, **changes)
    charge(request, 13700)
    return request


def charge(request: RefundRequest, captured_minor: int) -> None:
    order = request.line.order
    order.charges.create(
        provider="ledger",
        reference=f"ch_{uuid.uuid4().hex}",
        currency="USD",
        captured_minor=captured_minor,
        card_brand="Visa",
        card_last4="4242",
    )


def card_for(request: RefundRequest, **changes: Any) -> Approval:
    findings = [{"text": "The photo shows a dent.", "step": 2, "source": "model"}]
    concerns = [
        {"text": "$129.00 is above the $50.00 limit.", "step": None, "source": "rule"},
        {"text": "The box looked fine.", "step": None, "source": "model"},
    ]
    said = {
        "findings": findings,
        "concerns": concerns,
        "failed_rules": [{"rule": "limit", "sentence": "$129.00 is above the $50.00 limit."}],
        "counter_case": {"text": "It could have happened in use.", "step": 2, "source": "model"},
        "would_change": "A picture of it whole.",
    }
    return ApprovalFactory(request=request, **{**said, **changes})


def step_of(request: RefundRequest, title: str, *, at: datetime | None = None, **changes: Any) -> Step:
    entry = {"kind": Step.Kind.TOOL, "actor": Step.Actor.AGENT, **changes}
    with transaction.atomic():
        step = write_step(request.pk, Entry(title=title, **entry))
    if at is not None:
        behind_the_book(Step).filter(pk=step.pk).update(created_at=at)
    request.refresh_from_db()
    return step


def ended_run(request: RefundRequest, start: datetime, seconds: int = 2, **changes: Any) -> Run:
    return RunFactory(
        request=request,
        **{
            "status": "done",
            "started_at": start,
            "ended_at": start + timedelta(seconds=seconds),
            "created_at": start,
            **changes,
        },
    )


def minutes_ago(minutes: float) -> datetime:
    return timezone.now() - timedelta(minutes=minutes)
