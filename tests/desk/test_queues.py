"""What stands in each queue, in which order, found by which words."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from agent.models import Approval
from desk.queues import BY_SLUG, PAGE_SIZE, counts, page_of
from desk.templatetags.desk_signs import reason_in_short
from intake.models import RefundRequest
from tests.factories import CustomerFactory, LineFactory, OrderFactory, RequestFactory

pytestmark = pytest.mark.django_db


def waiting(days: int, status: str = "needs_approval", **changes: object) -> RefundRequest:
    at = timezone.now() - timedelta(days=days)
    return RequestFactory(status=status, status_changed_at=at, created_at=at, **changes)


def names(slug: str, **given: Any) -> list[int]:
    return [request.pk for request in page_of(BY_SLUG[slug], **given).requests]


def test_whoever_waits_longest_for_staff_stands_on_top() -> None:
    young, old, middle = waiting(1), waiting(5), waiting(3)
    assert names("needs-approval") == [old.pk, middle.pk, young.pk]


@pytest.mark.parametrize(
    ("slug", "status"),
    [
        ("waiting-on-customer", "needs_customer"),
        ("returns", "awaiting_return"),
        ("resolved", "refunded"),
        ("all", "closed"),
    ],
)
def test_elsewhere_the_newest_stands_on_top(slug: str, status: str) -> None:
    old, young = waiting(5, status), waiting(1, status)
    assert names(slug) == [young.pk, old.pk]


def test_each_status_stands_in_one_queue_and_in_all() -> None:
    for status in ("submitted", "working", "refunding", "needs_customer", "awaiting_return", "declined", "closed"):
        waiting(1, status)
    assert len(names("agent-working")) == 3
    assert len(names("waiting-on-customer")) == len(names("returns")) == 1
    assert len(names("resolved")) == 2
    assert len(names("all")) == 7


def test_counts_take_one_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    waiting(1)
    waiting(1, "working")
    waiting(1, "refunding")
    waiting(1, "refunded")
    with django_assert_num_queries(1):
        found = counts()
    assert found == {"needs-approval": 1, "agent-working": 2, "waiting-on-customer": 0, "returns": 0}


def test_search_finds_number_customer_order_and_item() -> None:
    customer = CustomerFactory(first_name="Priya", last_name="Raman", email="priya@example.com")
    line = LineFactory(order=OrderFactory(customer=customer, number="PH-20388"), name="Gooseneck kettle", sku="KTL-09")
    kettle = waiting(1, line=line)
    other = waiting(
        2, line=LineFactory(order=OrderFactory(customer=CustomerFactory(first_name="Tom", last_name="Becker")))
    )
    for words in (f"#{kettle.number}", str(kettle.number), "priya raman", "priya@", "ph-20388", "gooseneck", "ktl-09"):
        assert names("needs-approval", search=words) == [kettle.pk], words
    assert names("needs-approval", search="tom") == [other.pk]
    assert names("needs-approval", search="priya becker") == []
    assert names("needs-approval", search="９９") == []
    assert names("needs-approval", search="9" * 80) == []


def test_a_page_is_bounded_and_leads_to_the_next() -> None:
    for days in range(PAGE_SIZE + 3):
        waiting(days)
    first = page_of(BY_SLUG["needs-approval"])
    second = page_of(BY_SLUG["needs-approval"], number=2)
    assert (len(first.requests), first.has_next) == (PAGE_SIZE, True)
    assert (len(second.requests), second.has_next, second.has_previous) == (3, False, True)
    assert page_of(BY_SLUG["needs-approval"], number=10**12).requests == []


def test_unreadable_page_and_search_show_the_queue(lead: Client) -> None:
    assert lead.get("/desk/queue/needs-approval/?page=x&q=%20").status_code == 200
    assert lead.get("/desk/queue/needs-approval/?page=-3").status_code == 200


@pytest.mark.parametrize(
    ("rules", "concerns", "words"),
    [
        (["limit"], 2, "above limit"),
        (["limit", "history"], 2, "above limit +1"),
        (["balance"], 1, "balance"),
        (["a rule of old"], 1, "a rule of old"),
        ([], 1, "1 concern"),
        ([], 2, "2 concerns"),
        ([], 0, ""),
    ],
)
def test_a_row_says_in_short_why_a_person_looks(rules: list[str], concerns: int, words: str) -> None:
    card = Approval(failed_rules=[{"rule": rule} for rule in rules], concerns=[{"text": "Odd."}] * concerns)
    assert reason_in_short(card) == words


def test_an_unknown_queue_is_not_found(lead: Client) -> None:
    assert lead.get("/desk/queue/nowhere/").status_code == 404


def test_the_desk_opens_on_the_queue(lead: Client) -> None:
    assert lead.get("/desk/").headers["Location"] == "/desk/queue/needs-approval/"
