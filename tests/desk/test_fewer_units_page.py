"""The number of units in the form that approves, and in the staff API."""

from __future__ import annotations

import pytest
from django.test import Client

from agent.models import Approval, Decision
from tests.desk.rows import card_for, charge
from tests.factories import LineFactory, RequestFactory

HTMX = {"HX-Request": "true"}


@pytest.fixture
def card(db: None) -> Approval:
    line = LineFactory(quantity=2, unit_price_minor=2400)
    request = RequestFactory(line=line, units=2, amount_minor=4800, status="needs_approval", charged=False)
    charge(request, 4800)
    return card_for(request)


def send(client: Client, card: Approval, **given: str) -> object:
    fields = {"card": str(card.pk), "choice": "approve", **given}
    return client.post(f"/desk/requests/{card.request.uuid}/decide", fields, headers=HTMX)


def test_the_form_asks_for_units_and_knows_their_prices(support: Client, card: Approval) -> None:
    address = f"/desk/requests/{card.request.uuid}/decide"
    page = support.get(address, {"card": str(card.pk), "choice": "approve"}, headers=HTMX).content.decode()
    assert "Units, of 2" in page
    assert 'data-prices="24.00 48.00"' in page


def test_a_single_unit_is_not_asked_about(support: Client) -> None:
    card = card_for(RequestFactory(status="needs_approval"))
    address = f"/desk/requests/{card.request.uuid}/decide"
    page = support.get(address, {"card": str(card.pk), "choice": "approve"}, headers=HTMX).content.decode()
    assert "data-prices" not in page


def test_one_of_two_units_is_approved_with_its_price(support: Client, card: Approval) -> None:
    send(support, card, units="1", amount="24.00")
    assert Decision.objects.values_list("units", "amount_minor").get() == (1, 2400)


@pytest.mark.parametrize(
    ("units", "amount", "sentence"),
    [
        ("1", "48.00", "At most $24.00: the price of 1 unit."),
        ("3", "48.00", "At most 2: that is what the customer asked for."),
        ("0", "24.00", "At least 1. If nothing is to be refunded, decline."),
        ("", "24.00", "Write how many units you refund."),
    ],
)
def test_units_that_do_not_fit_get_a_sentence_and_nothing_is_decided(
    support: Client, card: Approval, units: str, amount: str, sentence: str
) -> None:
    page = send(support, card, units=units, amount=amount, note="Two talks")
    text = page.content.decode()  # type: ignore[attr-defined]
    assert sentence in text
    assert "Two talks" in text
    assert not Decision.objects.exists()


def test_the_api_takes_units_too(support: Client, card: Approval) -> None:
    answer = support.post(
        f"/api/v1/approvals/{card.pk}/decision", {"decision": "approve", "units": 1}, content_type="application/json"
    )
    assert (answer.status_code, answer.json()["units"], answer.json()["amount"]) == (201, 1, 2400)


def test_the_api_refuses_more_units_than_were_asked_for(support: Client, card: Approval) -> None:
    answer = support.post(
        f"/api/v1/approvals/{card.pk}/decision", {"decision": "approve", "units": 3}, content_type="application/json"
    )
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_input")
    assert answer.json()["message"] == "The request is for 2; approve 1 to 2 units."
    assert not Decision.objects.exists()
