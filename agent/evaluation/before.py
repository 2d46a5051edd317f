"""What happened in a scenario's shop before: refunds of older orders, pictures that another request holds already."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.auth.models import User

from agent.evaluation.evidence_files import hand_in
from agent.evaluation.scenario import EarlierRefund
from agent.models import Run
from intake.models import PolicyVersion, RefundRequest
from intake.photos import lock_photos
from intake.statuses import Status
from payments.models import LIVE_REFUND_STATUSES, Charge, Order, OrderLine, Refund

CARD = {"card_brand": "Visa", "card_last4": "4242"}
OTHER_EMAIL = "another.customer@example.com"
OTHER_PRICE_MINOR = 2_000


def days_before(now: datetime, days: int) -> datetime:
    """The same hour `days` calendar days earlier in the shop's time zone."""
    return now.astimezone(ZoneInfo(settings.SHOP_TIME_ZONE)) - timedelta(days=days)


def write_charge(order: Order, reference: str, captured: int, at: datetime) -> Charge:
    """The provider is the shop's own book, whatever this installation pays with."""
    return Charge.objects.create(
        order=order,
        provider="ledger",
        reference=reference,
        currency=order.currency,
        captured_minor=captured,
        captured_at=at,
        **CARD,
    )


def write_earlier_refund(customer: User, currency: str, earlier: EarlierRefund, number: int, now: datetime) -> None:
    """An older order of one article, with the money that went back for it."""
    at = days_before(now, earlier.days_ago)
    bought_at = at - timedelta(days=10)
    order = Order.objects.create(
        number=f"PH-4{number:04d}", customer=customer, currency=currency, placed_at=bought_at, shipped_at=bought_at
    )
    line = OrderLine.objects.create(
        order=order,
        sku=f"OLD-{number}",
        name="An article of an earlier order",
        quantity=1,
        unit_price_minor=earlier.amount_minor,
        paid_minor=earlier.amount_minor,
        delivered_at=at - timedelta(days=5),
    )
    charge = write_charge(order, f"ch_earlier_{number}", earlier.amount_minor, bought_at)
    Refund.objects.create(
        charge=charge,
        line=line,
        key=f"refund_earlier_{number}",
        reference=f"re_earlier_{number}",
        currency=currency,
        amount_minor=earlier.amount_minor,
        units=1,
        status=earlier.state,
        reserved_at=at,
        asked_at=at,
        settled_at=None if earlier.state == "pending" else at,
        **CARD,
    )
    if earlier.state in LIVE_REFUND_STATUSES:
        Charge.objects.filter(pk=charge.pk).update(reserved_minor=earlier.amount_minor)


def write_request_with(pictures: Sequence[str], policy: PolicyVersion, now: datetime) -> None:
    """A request of another customer that was declined, with these pictures. Raises NoSuchPicture."""
    at = days_before(now, 20)
    other = User.objects.create(username=OTHER_EMAIL, email=OTHER_EMAIL, first_name="Kim", last_name="Lund")
    order = Order.objects.create(
        number="PH-30000", customer=other, currency=policy.currency, placed_at=at - timedelta(days=9), shipped_at=at
    )
    line = OrderLine.objects.create(
        order=order,
        sku="OTHER-1",
        name="An article of another customer",
        quantity=1,
        unit_price_minor=OTHER_PRICE_MINOR,
        paid_minor=OTHER_PRICE_MINOR,
        delivered_at=at,
    )
    request = RefundRequest.objects.create(
        line=line,
        customer=other,
        policy=policy,
        units=1,
        amount_minor=OTHER_PRICE_MINOR,
        currency=policy.currency,
        reason=RefundRequest.Reason.DAMAGED,
        details="It came like this.",
        source=RefundRequest.Source.SEED,
        status=Status.DECLINED,
        created_at=at,
    )
    Run.objects.filter(request=request).update(status=Run.Status.DONE, result="before this scenario")
    lock_photos(other, [photo.pk for photo in hand_in(other, pictures, {})], to=request)
