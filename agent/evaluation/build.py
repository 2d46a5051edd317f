"""Makes a scenario's rows in an empty scratch shop: people, policy, orders, money that came and went before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import Permission, User
from django.utils import timezone

from agent.evaluation import scenario as parts
from agent.evaluation.before import days_before, write_charge, write_earlier_refund, write_request_with
from agent.evaluation.options import check_policy
from agent.facts import shop_day
from agent.models import BudgetDay, Switch
from intake.models import PolicySection, PolicyVersion
from intake.policy_in_force import policy_in_force
from payments.models import Order, OrderLine

ORDER_NUMBER = "PH-50000"
CUSTOMER_EMAIL = "customer@example.com"
STAFF_EMAIL = "staff@example.com"
STAFF_MAY = ("add_decision", "add_receipt", "add_approval", "view_refundrequest")


@dataclass(frozen=True)
class Stage:
    """The people of a scenario and the number of the order it is about."""

    customer: User
    staff: User
    order_number: str


def build(scenario: parts.Scenario, more_policy: Mapping[str, int | str]) -> Stage:
    """`more_policy` goes over the scenario's own changes. Raises NoSuchPicture and BadOptions."""
    now = timezone.now()
    customer, staff = _customer(scenario.customer), _staff()
    policy = _policy({**scenario.shop.policy, **more_policy})
    _brake(scenario.shop, policy, now)
    for number, earlier in enumerate(scenario.earlier_refunds, start=1):
        write_earlier_refund(customer, scenario.order.currency, earlier, number, now)
    if scenario.used_before:
        write_request_with(scenario.used_before, policy, now)
    _order(customer, scenario.order, now)
    return Stage(customer, staff, ORDER_NUMBER)


def _customer(name: str) -> User:
    first, _, last = name.partition(" ")
    return User.objects.create(username=CUSTOMER_EMAIL, email=CUSTOMER_EMAIL, first_name=first, last_name=last)


def _staff() -> User:
    staff = User.objects.create(
        username=STAFF_EMAIL, email=STAFF_EMAIL, first_name="Alex", last_name="Moore", is_staff=True
    )
    staff.user_permissions.set(Permission.objects.filter(codename__in=STAFF_MAY))
    return staff


def _policy(changes: Mapping[str, int | str]) -> PolicyVersion:
    """The ground's policy, or a newer version of it with `changes` and the same texts."""
    ground = policy_in_force()
    if not changes:
        return ground
    check_policy(changes)
    kept = {field.name: getattr(ground, field.name) for field in PolicyVersion._meta.concrete_fields}
    kept |= {**changes, "id": None, "number": ground.number + 1}
    newer = PolicyVersion.objects.create(**kept)
    PolicySection.objects.bulk_create(
        PolicySection(
            policy=newer, topic=section.topic, position=section.position, title=section.title, body=section.body
        )
        for section in ground.sections.all()
    )
    return newer


def _brake(shop: parts.Shop, policy: PolicyVersion, now: datetime) -> None:
    if shop.paused:
        Switch.objects.create(name=Switch.AUTOMATIC_REFUNDS, paused=True, reason="Paused for this scenario.")
    if shop.spent_today_minor:
        BudgetDay.objects.create(day=shop_day(now), currency=policy.currency, spent_minor=shop.spent_today_minor)


def _order(customer: User, order: parts.Order, now: datetime) -> None:
    placed_at = days_before(now, order.placed_days_ago)
    was_sent = any(line.delivered_days_ago is not None for line in order.lines)
    row = Order.objects.create(
        number=ORDER_NUMBER,
        customer=customer,
        currency=order.currency,
        shipping_minor=order.shipping_minor,
        placed_at=placed_at,
        shipped_at=placed_at + timedelta(hours=1) if was_sent else None,
    )
    OrderLine.objects.bulk_create(
        OrderLine(
            order=row,
            sku=line.sku,
            name=line.name,
            quantity=line.quantity,
            unit_price_minor=line.paid_minor // line.quantity,
            paid_minor=line.paid_minor,
            delivered_at=None if line.delivered_days_ago is None else days_before(now, line.delivered_days_ago),
        )
        for line in order.lines
    )
    everything = sum(line.paid_minor for line in order.lines) + order.shipping_minor
    for number, captured in enumerate(order.charges_minor or (everything,), start=1):
        write_charge(row, f"ch_order_{number}", captured, placed_at + timedelta(seconds=number))
