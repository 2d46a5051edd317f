"""The form that approves after a refused refund: it begins with what was tried, and says so."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.html import strip_tags

from agent.models import Approval, Decision
from payments.models import Order, Refund
from tests.desk.rows import card_for, charge
from tests.factories import LineFactory, OrderFactory, RefundFactory, RequestFactory

HTMX = {"HX-Request": "true"}


@pytest.fixture
def card(db: None) -> Approval:
    """The bank refused 134.00: 1 of 2 units of 129.00 each, and 5.00 of shipping."""
    line = LineFactory(order=OrderFactory(shipping_minor=500), quantity=2, unit_price_minor=12900)
    request = RequestFactory(line=line, units=2, amount_minor=25800, status="needs_approval", charged=False)
    charge(request, 26300)
    RefundFactory(
        charge=line.order.charges.get(),
        request_uuid=request.uuid,
        amount_minor=13400,
        shipping_minor=500,
        units=1,
        status="failed",
        settled_at=timezone.now() - timedelta(minutes=1),
    )
    return card_for(request, recommendation="manual_review", amount_minor=12900)


def form_of(client: Client, card: Approval) -> str:
    address = f"/desk/requests/{card.request.uuid}/decide"
    return client.get(address, {"card": str(card.pk), "choice": "approve"}, headers=HTMX).content.decode()


def filled_in(page: str) -> dict[str, str]:
    inputs = re.findall(r'<input[^>]*name="(units|amount|shipping)"[^>]*>', page)
    return {name: value_of(page, name) for name in inputs}


def value_of(page: str, name: str) -> str:
    (field,) = re.findall(rf'<input[^>]*name="{name}"[^>]*>', page)
    found = re.search(r'value="([^"]*)"', field)
    return found.group(1) if found else ""


def words_of(page: str) -> str:
    return re.sub(r"\s+", " ", strip_tags(page))


def test_the_form_begins_with_what_was_refused_and_says_so(support: Client, card: Approval) -> None:
    page = form_of(support, card)
    assert filled_in(page) == {"units": "1", "amount": "129.00", "shipping": "5.00"}
    assert (
        "Filled in as in the refund that did not go through: $134.00 for 1 of 2 units, $5.00 of it shipping."
    ) in words_of(page)
    assert "Refund $134.00" in words_of(page)


def test_sent_as_it_stands_it_means_the_same_again(support: Client, card: Approval) -> None:
    given: dict[str, Any] = {"card": str(card.pk), "choice": "approve", **filled_in(form_of(support, card))}
    assert support.post(f"/desk/requests/{card.request.uuid}/decide", given, headers=HTMX).status_code == 204
    decided = Decision.objects.values_list("amount_minor", "shipping_minor", "units").get()
    assert decided == (13400, 500, 1)


def test_the_button_on_the_card_names_the_same_amount(support: Client, card: Approval) -> None:
    page = words_of(support.get(f"/desk/queue/needs-approval/{card.request.uuid}/").content.decode())
    assert "Refund $134.00" in page


def test_shipping_that_is_no_longer_left_is_not_filled_in(support: Client, card: Approval) -> None:
    Order.objects.update(shipping_minor=0)
    assert filled_in(form_of(support, card)) == {"units": "1", "amount": "129.00"}


def test_a_card_about_something_else_begins_with_its_own_amount(support: Client, card: Approval) -> None:
    Approval.objects.update(amount_minor=25800)
    page = form_of(support, card)
    assert filled_in(page) == {"units": "2", "amount": "258.00", "shipping": ""}
    assert "did not go through" not in page


def test_a_card_older_than_the_refusal_begins_with_its_own_amount(support: Client, card: Approval) -> None:
    Refund.objects.update(settled_at=timezone.now() + timedelta(days=1))
    assert filled_in(form_of(support, card)) == {"units": "2", "amount": "129.00", "shipping": ""}
