"""What is agreed for a return stands in the decision that opened it, also while the parcel is still on its way."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from agent.decide import decide
from agent.verify.shop import verify_shop
from intake.models import RefundRequest, Return
from tests.agent.book_cases import before_staff
from tests.agent.falsify import named, sql
from tests.agent.work_off import work_off

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_rings(rung: object, worded_decline: None) -> None:
    """No broker is there to be rung for."""


@pytest.fixture
def waiting(maya: User) -> RefundRequest:
    """50.00 for both units once they are back."""
    request = before_staff(units=2)
    card = request.approvals.get()
    decide(approval_id=card.pk, by=maya, choice="approve", amount_minor=5000, require_return=True, source="desk")
    assert work_off(request).status == "awaiting_return"
    return request


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("amount_minor = 25800", "its agreed amount (minor units) is 25800, and the decision says 5000"),
        ("shipping_minor = 500", "its shipping (minor units) is 500, and the decision says 0"),
        ("units = 1", "its agreed units is 1, and the decision says empty"),
    ],
)
def test_a_waiting_return_that_is_not_as_it_was_decided_is_named(
    waiting: RefundRequest, change: str, sentence: str
) -> None:
    assert verify_shop().fits
    sql(f"UPDATE intake_return SET {change}")
    code = waiting.returns.get().code
    assert named(waiting) == f"The return {code} is not the one that was decided: {sentence}."


def test_a_return_that_nobody_decided_is_named() -> None:
    request, now = before_staff(), timezone.now()
    Return.objects.create(request=request, code="RMA-ABCDEF", amount_minor=100, ship_by=now, check_at=now)
    assert named(request) == "The return RMA-ABCDEF has no decision behind it."


def test_one_decision_opens_one_return(waiting: RefundRequest) -> None:
    sql("UPDATE intake_return SET status = 'withdrawn'")
    first = waiting.returns.get()
    first.pk, first.code, first.created_at = None, "RMA-ABCDEF", timezone.now()
    first._state.adding = True
    first.pk = Return._meta.pk.get_default()
    first.save()
    assert named(waiting) == "The return RMA-ABCDEF rests on a decision that had opened another one."
