"""Rows for tests: each factory makes the smallest valid row; a test names what matters to it."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import factory
from django.contrib.auth.models import Permission, User
from django.db.models import F
from django.utils import timezone

from agent.models import Approval, Run
from intake.models import PolicyVersion, RefundRequest
from payments.models import LIVE_REFUND_STATUSES, Charge, Order, OrderLine, Refund

SUPPORT_PERMISSIONS = ("agent.add_decision", "intake.add_receipt", "agent.add_approval", "intake.view_refundrequest")


class CustomerFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = User

    username = factory.Sequence(lambda n: f"customer{n}@example.com")
    email = factory.SelfAttribute("username")
    first_name = "Priya"
    last_name = "Raman"


class OrderFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Order

    number = factory.Sequence(lambda n: f"PH-{30000 + n}")
    customer = factory.SubFactory(CustomerFactory)
    currency = "USD"
    placed_at = factory.LazyFunction(lambda: timezone.now() - timedelta(days=8))


class LineFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = OrderLine

    order = factory.SubFactory(OrderFactory)
    sku = factory.Sequence(lambda n: f"SKU-{n}")
    name = "Glass carafe, 600 ml"
    quantity = 1
    unit_price_minor = 3400
    paid_minor = factory.LazyAttribute(lambda line: line.unit_price_minor * line.quantity)
    delivered_at = factory.LazyFunction(lambda: timezone.now() - timedelta(days=5))


class ChargeFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Charge

    order = factory.SubFactory(OrderFactory)
    provider = "ledger"
    reference = factory.Sequence(lambda n: f"ch_{n:06d}")
    currency = factory.SelfAttribute("order.currency")
    captured_minor = 10_000
    card_brand = "Visa"
    card_last4 = "4242"


class PolicyFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = PolicyVersion
        django_get_or_create = ("number",)

    number = 1
    currency = "USD"
    auto_refund_limit_minor = 5000
    refund_window_days = 30


class RequestFactory(factory.django.DjangoModelFactory):
    """A request on a delivered, paid line; pass `line` to put it on a line of your own."""

    class Meta:
        model = RefundRequest
        skip_postgeneration_save = True

    line = factory.SubFactory(LineFactory)
    customer = factory.SelfAttribute("line.order.customer")
    policy = factory.SubFactory(PolicyFactory)
    units = 1
    amount_minor = factory.SelfAttribute("line.paid_minor")
    currency = factory.SelfAttribute("line.order.currency")
    reason = "damaged"
    details = "It arrived broken."
    source = "api"

    @factory.post_generation
    def charged(self: Any, create: bool, extracted: Any, **kwargs: Any) -> None:
        """Each request's order has a charge that holds its price, unless `charged=False` or one is there."""
        if create and extracted is not False and not self.line.order.charges.exists():
            ChargeFactory(order=self.line.order, captured_minor=self.line.paid_minor)


class RunFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Run

    request = factory.SubFactory(RequestFactory)
    trigger = "request"
    key = factory.Sequence(lambda n: f"req:test-{n}")
    source_id = factory.LazyAttribute(lambda run: str(run.request.pk))


class ApprovalFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Approval

    request = factory.SubFactory(RequestFactory, status="needs_approval")
    recommendation = "refund"
    amount_minor = factory.SelfAttribute("request.amount_minor")


class RefundFactory(factory.django.DjangoModelFactory):
    """A refund as reserved, with the charge's money held for it."""

    class Meta:
        model = Refund
        skip_postgeneration_save = True

    charge = factory.SubFactory(ChargeFactory)
    request_uuid = factory.LazyFunction(uuid.uuid4)
    key = factory.LazyAttribute(lambda refund: f"refund_{refund.request_uuid}")
    reference = factory.Sequence(lambda n: f"re_test{n}")
    currency = factory.SelfAttribute("charge.currency")
    amount_minor = 1500
    units = 1
    card_brand = factory.SelfAttribute("charge.card_brand")
    card_last4 = factory.SelfAttribute("charge.card_last4")

    @factory.post_generation
    def held(self: Any, create: bool, extracted: Any, **kwargs: Any) -> None:
        if create and self.status in LIVE_REFUND_STATUSES:
            Charge.objects.filter(pk=self.charge_id).update(reserved_minor=F("reserved_minor") + self.amount_minor)


class StaffFactory(CustomerFactory):
    """A staff member; `permissions` are `app.codename`, by default what support may do."""

    class Meta:
        model = User
        skip_postgeneration_save = True

    username = factory.Sequence(lambda n: f"staff{n}@example.com")
    first_name = "Maya"
    last_name = "Okafor"
    is_staff = True

    @factory.post_generation
    def permissions(self: Any, create: bool, extracted: Any, **kwargs: Any) -> None:
        wanted = SUPPORT_PERMISSIONS if extracted is None else extracted
        for name in wanted:
            app_label, codename = name.split(".")
            self.user_permissions.add(Permission.objects.get(content_type__app_label=app_label, codename=codename))
