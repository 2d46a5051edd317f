"""Where a request stands fits what is open: no status was put there that nothing in its book has brought about."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from agent.decide import decide
from agent.verify.shop import verify_shop
from intake.models import RefundRequest
from intake.record_receipt import record_receipt
from tests.agent.book_cases import before_staff, declined
from tests.agent.falsify import named, sql
from tests.agent.work_off import open_card, wait_for, work_off

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_photo_folder", "rung", "worded_decline")]


def on_a_card(by: User) -> RefundRequest:
    return before_staff()


def asked(by: User) -> RefundRequest:
    request = before_staff()
    decide(approval_id=open_card(request).pk, by=by, choice="ask_customer", note="Which one?", source="desk")
    return work_off(request)


def sent(by: User) -> RefundRequest:
    request = before_staff()
    decide(approval_id=open_card(request).pk, by=by, choice="approve", require_return=True, source="desk")
    return work_off(request)


def closed(by: User) -> RefundRequest:
    request = sent(by)
    for _ in range(2):
        wait_for(request, "check")
    return request


MADE_UP: list[tuple[Callable[[User], RefundRequest], str, str]] = [
    (on_a_card, "submitted", "“Submitted”, and a card is open."),
    (on_a_card, "working", "“Agent working”, and a card is open."),
    (on_a_card, "declined", "“Declined”, and a card is open."),
    (asked, "declined", "“Declined”, and a question is open."),
    (asked, "awaiting_return", "“Awaiting return”, and a question is open."),
    (sent, "closed", "“Closed”, and a return is open."),
    (sent, "needs_customer", "“Waiting on customer”, and no question is open."),
    (closed, "declined", "“Declined”, and nobody declined it."),
    (closed, "awaiting_return", "“Awaiting return”, and no return is open."),
    (closed, "submitted", "“Submitted”, and staff have had it."),
    (declined, "submitted", "“Submitted”, and staff have had it."),
    (declined, "closed", "“Closed”, and no return of it was missed."),
    (declined, "needs_approval", "“Needs approval”, and no card is open."),
]


@pytest.mark.parametrize(("case", "status", "stands"), MADE_UP)
def test_a_status_that_nothing_has_brought_about_is_named(
    maya: User, case: Callable[[User], RefundRequest], status: str, stands: str
) -> None:
    request = case(maya)
    assert named(request) == ""
    sql("UPDATE intake_refundrequest SET status = %s", status)
    assert named(request) == f"The request stands as {stands}"
    assert not verify_shop().fits


def test_a_decline_that_was_set_aside_declined_nothing(maya: User) -> None:
    request = declined(maya)
    sql("UPDATE agent_decision SET carried_out_at = NULL, set_aside_at = carried_out_at")
    assert named(request) == "The request stands as “Declined”, and nobody declined it."


@pytest.mark.parametrize(
    ("case", "stands"),
    [
        (sent, "“Awaiting return”, and no return is open."),
        (closed, "“Closed”, and no return of it was missed."),
    ],
)
def test_a_parcel_that_has_just_come_has_a_run_to_move_its_request(
    maya: User, case: Callable[[User], RefundRequest], stands: str
) -> None:
    request = case(maya)
    record_receipt(request_uuid=request.uuid, by=maya, source="page")
    assert verify_shop().misfits == []
    sql("UPDATE agent_run SET status = 'done' WHERE trigger = 'receipt'")
    assert named(request) == f"The request stands as {stands}"
    sql("UPDATE agent_run SET status = 'queued' WHERE trigger = 'receipt'")
    work_off(request)
    assert verify_shop().misfits == []


def test_a_return_that_was_taken_out_leaves_a_request_that_waits_for_nothing(maya: User) -> None:
    request = sent(maya)
    sql("DELETE FROM intake_return")
    assert named(request) == "The request stands as “Awaiting return”, and no return is open."
