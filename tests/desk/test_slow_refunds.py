"""Refunds that hang: their page says since when and what to do, and the desk counts them and leads there."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.html import strip_tags

from desk.queues import slow_refunds_count
from intake.models import RefundRequest
from payments.models import Refund
from payments.models.refund import NEEDS_THE_CUSTOMER
from tests.desk.rows import kettle_request
from tests.factories import RefundFactory

QUEUE = "/desk/queue/slow-refunds/"
A_MINUTE = timedelta(minutes=1)
LIMITS = [("reserved", timedelta(days=1)), ("pending", timedelta(days=10))]


def waiting_for(age: timedelta, refund_status: str = "reserved", **changes: Any) -> Refund:
    request = kettle_request("refunding")
    return RefundFactory(
        charge=request.line.order.charges.get(),
        request_uuid=request.uuid,
        amount_minor=12900,
        status=refund_status,
        reserved_at=timezone.now() - age,
        **changes,
    )


def words_of(client: Client, refund: Refund) -> str:
    page = client.get(f"/desk/queue/agent-working/{refund.request_uuid}/").content.decode()
    return re.sub(r"\s+", " ", strip_tags(page))


@pytest.mark.parametrize(("status", "longest"), LIMITS)
def test_a_refund_that_hangs_is_counted_and_listed(support: Client, status: str, longest: timedelta) -> None:
    refund = waiting_for(longest + A_MINUTE, status)
    page = support.get("/desk/queue/needs-approval/").content.decode()
    assert f'<a href="{QUEUE}">1 refund hangs</a>' in page
    assert f"row-{refund.request_uuid}" in support.get(QUEUE).content.decode()
    assert support.get(f"{QUEUE}{refund.request_uuid}/").status_code == 200


@pytest.mark.parametrize(("status", "longest"), LIMITS)
def test_one_that_takes_its_time_is_not(support: Client, status: str, longest: timedelta) -> None:
    refund = waiting_for(longest - A_MINUTE, status)
    assert QUEUE not in support.get("/desk/queue/needs-approval/").content.decode()
    assert "No refund hangs." in support.get(QUEUE).content.decode()
    assert "Nothing to do here; the desk asks again by itself." in words_of(support, refund)


def test_the_ended_and_those_of_no_request_do_not_hang(db: None) -> None:
    for status in ("failed", "succeeded"):
        waiting_for(timedelta(days=60), status)
    long_ago = timezone.now() - timedelta(days=20)
    RefundFactory(request_uuid=None, key="external_1", reserved_at=long_ago)
    assert slow_refunds_count() == 0


def test_its_page_says_since_when_and_what_to_do(support: Client) -> None:
    refund = waiting_for(timedelta(days=20, hours=1))
    words = words_of(support, refund)
    since = timezone.localtime(refund.reserved_at)
    assert "$129.00 to Visa 4242 hangs" in words
    assert f"The provider has given no answer since {since:%b} {since.day}" in words
    assert "(20 d 1 h)" in words
    assert f"In the provider’s dashboard, look at the payment {refund.charge.reference}" in words
    assert "manage.py reconcile" in words
    assert "Nothing to do here" not in words


def test_one_that_was_taken_and_never_finished_gives_the_banks_reason(support: Client) -> None:
    words = words_of(support, waiting_for(timedelta(days=11), "pending", pending_reason="in review"))
    assert "The provider took it on" in words
    assert "has not finished it. The bank says: in review." in words


def test_one_that_waits_for_the_customer_for_too_long_says_so_too(support: Client) -> None:
    words = words_of(support, waiting_for(timedelta(days=11), "pending", pending_reason=NEEDS_THE_CUSTOMER))
    assert "waits for Priya’s answer to the provider" in words
    assert "(11 d ago), and that e-mail is not answered." in words
    assert "In the provider’s dashboard" in words


def test_the_oldest_stands_on_top_and_many_cost_one_query(support: Client) -> None:
    newer, older = waiting_for(timedelta(days=2)), waiting_for(timedelta(days=3))
    RefundRequest.objects.filter(line__order=older.charge.order).update(status_changed_at=older.reserved_at)
    page = support.get(QUEUE).content.decode()
    assert page.index(f"row-{older.request_uuid}") < page.index(f"row-{newer.request_uuid}")
    assert "2 refunds hang" in page
    with CaptureQueriesContext(connection) as captured:
        assert slow_refunds_count() == 2
    assert len(captured) == 1
