"""What the book knows of refunds made by hand at the provider, for those who decide and pay."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from payments.made_elsewhere import heard_of_after, refunds_made_elsewhere
from payments.models import Charge, Refund, RefundOutcome
from tests.factories import ChargeFactory, RefundFactory

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def by_hand(charge: Charge, **changes: Any) -> Refund:
    key = f"external_{Refund.objects.count()}"
    given = {"amount_minor": 100, "status": "succeeded"} | changes
    return RefundFactory(charge=charge, request_uuid=None, key=key, **given)


def test_the_live_ones_of_the_order_newest_first() -> None:
    charge, now = ChargeFactory(), timezone.now()
    older = by_hand(charge, reserved_at=now - 2 * DAY, status="pending")
    newer = by_hand(charge, reserved_at=now - DAY)
    by_hand(charge, status="failed")
    by_hand(ChargeFactory())
    RefundFactory(charge=charge, status="succeeded")
    assert refunds_made_elsewhere(charge.order_id) == [newer, older]


def test_of_very_many_the_newest_twenty() -> None:
    charge = ChargeFactory()
    for _ in range(21):
        by_hand(charge)
    assert refunds_made_elsewhere(charge.order_id) == list(Refund.objects.all()[:20])


def test_what_counts_is_when_the_book_first_heard_of_it() -> None:
    charge, now = ChargeFactory(), timezone.now()
    refund = by_hand(charge, reserved_at=now - 9 * DAY)
    for status, at in (("pending", now), ("succeeded", now + DAY)):
        RefundOutcome.objects.create(refund=refund, status=status, source="webhook", created_at=at)
    assert heard_of_after(charge.order_id, now - DAY) == refund
    assert heard_of_after(charge.order_id, now) is None


@pytest.mark.parametrize("which", ["failed", "of a request", "of another order"])
def test_others_are_not_heard_of(which: str) -> None:
    charge, now = ChargeFactory(), timezone.now()
    if which == "of a request":
        refund = RefundFactory(charge=charge, status="succeeded")
    else:
        refund = by_hand(charge, status="failed" if which == "failed" else "succeeded")
    RefundOutcome.objects.create(refund=refund, status=refund.status, source="webhook", created_at=now)
    order_id = ChargeFactory().order_id if which == "of another order" else charge.order_id
    assert heard_of_after(order_id, now - DAY) is None
