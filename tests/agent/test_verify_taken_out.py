"""Rows that were taken out from under the book, and what stands at its open end."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import date, timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone

from agent.anchor import anchor_hash, anchor_yesterday, noted
from agent.chain import NOTHING_BEFORE
from agent.facts import shop_day
from agent.models import ChainAnchor
from agent.verify.shop import verify_shop
from intake.models import RefundRequest
from tests.agent.book_cases import declined
from tests.agent.falsify import sql
from tests.behind_the_book import behind_the_book

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_rings(rung: object, worded_decline: None) -> None:
    """No broker is there to be rung for."""


def misfits_after(statement: str, *values: object) -> list[str]:
    """As a hand that no foreign key holds leaves the book; all of it is undone again."""
    with transaction.atomic():
        sql(statement, *values)
        misfits = verify_shop().misfits
        transaction.set_rollback(True)
    return misfits


def test_a_request_that_was_taken_out_from_under_its_chain_is_named(maya: User) -> None:
    request = declined(maya)
    assert misfits_after("DELETE FROM intake_refundrequest") == [
        f"Request {request}: It is not in the book any more, and its chain has 1 link."
    ]
    assert verify_shop().fits


STANDS_ON: dict[str, Callable[[RefundRequest], object]] = {
    "auth_user": lambda request: request.customer_id,
    "payments_order": lambda request: request.line.order_id,
    "payments_orderline": lambda request: request.line_id,
    "intake_policyversion": lambda request: request.policy_id,
}


@pytest.mark.parametrize("table", STANDS_ON)
def test_a_request_is_never_passed_over_because_a_row_it_stands_on_is_gone(maya: User, table: str) -> None:
    request = declined(maya)
    assert misfits_after(f"DELETE FROM {table} WHERE id = %s", STANDS_ON[table](request)) == [
        f"Request {request}: Its customer, order, line or policy is not in the book any more."
    ]
    assert verify_shop().fits


def anchor_of(day: date) -> ChainAnchor:
    """Rightly computed, over no link."""
    of_nothing = anchor_hash(day, 0, 0, {}, NOTHING_BEFORE)
    return ChainAnchor.objects.create(
        day=day, chains=0, records=0, last_record_id=0, previous_hash=NOTHING_BEFORE, hash=of_nothing
    )


def test_an_anchor_of_a_day_to_come_which_would_keep_all_others_out_is_named() -> None:
    anchor_of(date(2999, 12, 31))
    assert anchor_yesterday() is None
    assert verify_shop().misfits == ["The anchor of 2999-12-31 is of a day that has not come."]


@pytest.mark.parametrize(("ahead", "fits"), [(1, True), (2, False)])
def test_a_shop_that_moved_to_an_earlier_zone_may_have_anchored_tomorrow(ahead: int, fits: bool) -> None:
    anchor_of(shop_day(timezone.now()) + timedelta(days=ahead))
    assert verify_shop().fits is fits


def test_an_anchor_that_was_kept_elsewhere_and_taken_out_here_is_named_as_missing() -> None:
    kept = noted(anchor_of(date(2026, 1, 5)))
    assert verify_shop(held=[kept]).fits
    behind_the_book(ChainAnchor).all().delete()
    assert verify_shop(held=[kept]).misfits == [
        "The anchor of 2026-01-05 was kept elsewhere and is not in the book: it was taken out, or never here."
    ]


def told_by_verify() -> list[str]:
    out = io.StringIO()
    call_command("verify", stdout=out)
    return out.getvalue().splitlines()


def test_verify_tells_what_no_anchor_holds_yet(maya: User, monkeypatch: pytest.MonkeyPatch) -> None:
    declined(maya)
    today = shop_day(timezone.now())
    assert told_by_verify()[1:] == [f"1 link is in no anchor yet, the oldest of {today}"]
    with monkeypatch.context() as tomorrow:
        tomorrow.setattr("agent.anchor.shop_day", lambda now: shop_day(now) + timedelta(days=1))
        anchor = anchor_yesterday()
    assert anchor is not None
    assert told_by_verify()[1:] == [f"newest anchor, to be kept elsewhere: {today}:{anchor.hash}"]
    for _ in range(2):
        declined(maya)
    assert told_by_verify()[2:] == [f"2 links are in no anchor yet, the oldest of {today}"]
    behind_the_book(ChainAnchor).all().delete()
    assert told_by_verify()[1:] == [f"3 links are in no anchor yet, the oldest of {today}"]
