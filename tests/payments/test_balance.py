from __future__ import annotations

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from payments.balance import left_on_order, live_refund_days, live_refunds_since
from tests.factories import ChargeFactory, OrderFactory, RefundFactory

pytestmark = pytest.mark.django_db


def test_what_is_left_is_that_of_the_fullest_charge_and_the_shipping_not_yet_back() -> None:
    order = OrderFactory(shipping_minor=600)
    charge = ChargeFactory(order=order, captured_minor=4000)
    ChargeFactory(order=order, captured_minor=1000)
    RefundFactory(charge=charge, amount_minor=2500, shipping_minor=200, status="pending")
    RefundFactory(charge=charge, amount_minor=900, shipping_minor=100, status="failed")
    left = left_on_order(order)
    assert (left.largest_left_minor, left.shipping_left_minor) == (1500, 400)


def test_an_order_without_a_charge_has_nothing_left() -> None:
    assert left_on_order(OrderFactory()).largest_left_minor == 0


def test_m16_a_failed_refund_is_no_refund_and_one_in_flight_is() -> None:
    order = OrderFactory()
    charge = ChargeFactory(order=order)
    failed = RefundFactory(charge=charge, status="failed", amount_minor=100)
    flying = RefundFactory(charge=charge, status="reserved", amount_minor=100)
    own = RefundFactory(charge=charge, status="succeeded", amount_minor=100)
    RefundFactory(status="succeeded")
    found = live_refunds_since(order.customer_id, timezone.now() - timedelta(days=90), besides_request=own.request_uuid)
    assert [refund.pk for refund in found] == [flying.pk]
    assert failed not in found


def test_the_day_of_a_refund_is_the_shops_day() -> None:
    evening = datetime(2026, 3, 1, 20, 0, tzinfo=ZoneInfo("America/Los_Angeles"))
    refund = RefundFactory(status="succeeded", reserved_at=evening)
    days = live_refund_days(refund.charge.order.customer_id, now=evening + timedelta(days=90), days=90)
    assert days == (date(2026, 3, 1),)
