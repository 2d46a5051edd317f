"""Requests whose money was taken through the local Stripe, with staff to decide them and a customer to read them."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agent.decide import decide
from agent.models import Approval
from intake.models import RefundRequest
from payments.models import Refund
from tests.agent.work_off import work_off
from tests.factories import ApprovalFactory, LineFactory, RequestFactory, StaffFactory
from tests.payments.stripe_rows import paid
from tests.stripe_server import StripeServer


def waiting_card(server: StripeServer, price_minor: int = 3400, **order: Any) -> Approval:
    """A card that recommends the refund of a line, all of it paid with one payment at Stripe."""
    line = LineFactory(unit_price_minor=price_minor, **{f"order__{name}": value for name, value in order.items()})
    paid(server, price_minor, order=line.order)
    request = RequestFactory(line=line, status="needs_approval")
    request.runs.all().delete()
    return ApprovalFactory(request=request)


def approve(card: Approval, by: User | None = None, *, amount_minor: int | None = None) -> RefundRequest:
    """The request as it stands after staff approved and the agent has carried it out."""
    staff = by or StaffFactory()
    decide(approval_id=card.pk, by=staff, choice="approve", amount_minor=amount_minor, source="desk")
    return work_off(card.request)


def refund_of(request: RefundRequest) -> Refund:
    return Refund.objects.get(request_uuid=request.uuid)


def page_of(request: RefundRequest) -> str:
    """What the customer's page of the request says."""
    client = Client()
    client.force_login(request.customer)
    answer = client.get(reverse("request", args=[request.uuid]))
    assert answer.status_code == 200
    return str(answer.content.decode())
