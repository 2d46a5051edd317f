"""The amount of a request is computed again from its line, whether or not anything was paid for it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from agent.decide import decide
from agent.verify.shop import verify_shop
from intake.models import RefundRequest
from payments.models import Refund
from tests.agent.book_cases import before_staff, paid_automatically
from tests.agent.falsify import named, rewritten, sql
from tests.agent.work_off import open_card, work_off
from tests.factories import LineFactory, RequestFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_photo_folder", "rung", "worded_decline")]


def test_an_amount_that_is_not_the_price_is_named_before_anything_is_paid() -> None:
    request = RequestFactory(line__unit_price_minor=1000)
    assert named(request) == ""
    sql("UPDATE intake_refundrequest SET amount_minor = 4900")
    assert verify_shop().misfits == [
        f"Request {request}: The request stands at $49.00, and by what was paid for its line it costs $10.00."
    ]


def test_each_request_of_a_line_is_priced_after_the_ones_before_it() -> None:
    line = LineFactory(quantity=3, unit_price_minor=334, paid_minor=1000)
    first, second, third = (RequestFactory(line=line, amount_minor=n, reopened=True) for n in (333, 334, 333))
    assert verify_shop().fits
    sql("UPDATE intake_refundrequest SET amount_minor = 335 WHERE id = %s", second.pk)
    assert (named(first), named(third)) == ("", "")
    assert named(second) == "The request stands at $3.35, and by what was paid for its line it costs $3.34."


def test_a_request_for_units_that_were_not_left_is_named() -> None:
    request = RequestFactory()
    sql("UPDATE intake_refundrequest SET units = 2")
    assert named(request) == "The request is for more units than were left on its line."


def test_a_line_that_was_changed_after_it_was_paid_back_is_named() -> None:
    request = paid_automatically()
    sql("UPDATE payments_orderline SET paid_minor = 9900")
    assert named(request) == (
        "The line is not as it was at link 1: its price (minor units) is 9900, and the chain says 3400."
    )
    sql("UPDATE payments_orderline SET paid_minor = 3400, quantity = 2")
    assert named(request) == "The line is not as it was at link 1: its quantity is 2, and the chain says 1."


def test_a_link_from_before_lines_were_sealed_fits() -> None:
    request = paid_automatically()

    def as_it_was(facts: dict[str, Any]) -> None:
        del facts["line"]

    rewritten(request.chain.get(kind="reserve"), as_it_was)
    assert verify_shop().fits


def test_a_price_that_was_changed_before_it_was_approved_comes_back_to_staff(maya: User) -> None:
    request: RefundRequest = before_staff()
    sql("UPDATE payments_charge SET captured_minor = 90000")
    sql("UPDATE intake_refundrequest SET amount_minor = 50000")
    sql("UPDATE agent_approval SET amount_minor = 50000")
    decide(approval_id=open_card(request).pk, by=maya, choice="approve", source="desk")
    assert work_off(request).status == "needs_approval"
    assert not Refund.objects.exists()
    assert request.steps.filter(title="The refund could not be made as decided").count() == 1
