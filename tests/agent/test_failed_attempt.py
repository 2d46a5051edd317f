"""After a refused refund, approving means what was tried: the same units, the same shipping, the same amount."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from agent.decide import decide
from agent.failed_attempt import failed_attempt
from agent.models import Approval
from intake.models import RefundRequest
from payments.models import Charge, Refund
from tests.agent.work_off import open_card, work_off
from tests.behind_the_book import behind_the_book
from tests.factories import ApprovalFactory, ChargeFactory, LineFactory, OrderFactory, RequestFactory
from tests.fake_bank import FakeBank

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_review", "rung")]


@pytest.fixture
def refused(bank: FakeBank, maya: User) -> Approval:
    """The card after the bank refused 134.00: 1 of 2 units of 129.00 each, and 5.00 of shipping."""
    bank.answers = ["failed: card expired", "succeeded"]
    order = OrderFactory(shipping_minor=500)
    ChargeFactory(order=order, captured_minor=26_300, provider="bank")
    line = LineFactory(order=order, unit_price_minor=12_900, quantity=2)
    request = RequestFactory(line=line, units=2, status="needs_approval")
    request.runs.all().delete()
    card = ApprovalFactory(request=request)
    decide(approval_id=card.pk, by=maya, choice="approve", units=1, shipping_minor=500, source="desk")
    assert work_off(request).status == "needs_approval"
    return open_card(request)


def tried(card: Approval) -> tuple[int, int, int] | None:
    refund = failed_attempt(card)
    return None if refund is None else (refund.amount_minor, refund.shipping_minor, refund.units)


def paid(card: Approval, by: User, **given: Any) -> tuple[int, int, int]:
    decide(approval_id=card.pk, by=by, choice="approve", source="api", **given)
    assert work_off(card.request).status == "refunded"
    refund = Refund.objects.get(attempt=2)
    return refund.amount_minor, refund.shipping_minor, refund.units


def test_the_card_says_what_was_tried(refused: Approval) -> None:
    assert refused.amount_minor == 12_900
    assert refused.concerns[0]["text"] == (
        "The bank refused the refund of $134.00: card expired. It was for 1 of 2 units and $5.00 of shipping."
    )
    assert tried(refused) == (13_400, 500, 1)


def test_approving_without_numbers_pays_what_was_tried(refused: Approval, maya: User) -> None:
    assert paid(refused, maya) == (13_400, 500, 1)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"units": 2}, (12_900, 0, 2)),
        ({"amount_minor": 5000}, (5000, 0, 2)),
        ({"shipping_minor": 0}, (12_900, 0, 2)),
        ({"units": 2, "amount_minor": 26_300, "shipping_minor": 500}, (26_300, 500, 2)),
    ],
)
def test_whoever_gives_a_number_means_their_own(
    refused: Approval, maya: User, given: Any, expected: tuple[int, int, int]
) -> None:
    assert paid(refused, maya, **given) == expected


@pytest.mark.parametrize("why", ["before it", "another price", "live", "none"])
def test_a_card_that_does_not_follow_the_failure_stands_for_itself(refused: Approval, why: str) -> None:
    if why == "before it":
        refused.opened_at -= timedelta(days=1)
    if why == "another price":
        refused.amount_minor = 25_800
    if why == "live":
        behind_the_book(Refund).update(status="pending")
    if why == "none":
        behind_the_book(Refund).update(request_uuid=RequestFactory().uuid)
    assert tried(refused) is None
    assert RefundRequest.objects.get(pk=refused.request_id).status == "needs_approval"
    assert Charge.objects.filter(reserved_minor__gt=0).count() == 0
