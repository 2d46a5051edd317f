"""What the customer reads when fewer units came back than the agreed amount is for."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from intake.models import RefundRequest, Return
from intake.record_receipt import record_receipt
from intake.request_page import RequestPage, load_page
from tests.factories import ChargeFactory, LineFactory, RefundFactory, RequestFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def request_(policy: object) -> RefundRequest:
    """Two kettles of 129.00 each, agreed to be refunded once both are back."""
    line = LineFactory(quantity=2, unit_price_minor=12_900)
    request = RequestFactory(line=line, units=2, status="awaiting_return")
    now = timezone.now()
    Return.objects.create(request=request, code="RMA-7KQ2MX", amount_minor=25_800, ship_by=now, check_at=now)
    return request


def page_after(request: RefundRequest, by: User, units: int) -> RequestPage:
    record_receipt(request_uuid=request.uuid, by=by, units=units, source="page")
    return load_page(RefundRequest.objects.get(pk=request.pk))


def test_no_amount_is_promised_for_a_part(request_: RefundRequest, daniel: User) -> None:
    page = page_after(request_, daniel, 1)
    assert page.standing.next_words.startswith("we refund what came back, to your Visa ending 4242.")
    assert page.amount_line == "The price of what came back, to your Visa ending 4242"


def test_all_that_came_back_is_worth_what_was_agreed(request_: RefundRequest, daniel: User) -> None:
    page = page_after(request_, daniel, 2)
    assert page.standing.next_words.startswith("we refund $258.00 to your Visa ending 4242.")
    assert page.amount_line == "$258.00 to your Visa ending 4242"


def test_more_than_was_agreed_is_no_part(request_: RefundRequest, daniel: User) -> None:
    Return.objects.update(units=1, amount_minor=12_900)
    assert page_after(request_, daniel, 2).amount_line == "$129.00 to your Visa ending 4242"


def test_the_refund_of_a_part_is_named_with_its_amount(request_: RefundRequest, daniel: User) -> None:
    page_after(request_, daniel, 1)
    charge = ChargeFactory(order=request_.line.order, captured_minor=12_900)
    RefundFactory(charge=charge, request_uuid=request_.uuid, amount_minor=12_900)
    page = load_page(RefundRequest.objects.get(pk=request_.pk))
    assert page.amount_line == "$129.00 to your Visa ending 4242"


def test_the_receipt_costs_no_query(request_: RefundRequest, daniel: User, django_assert_num_queries: Any) -> None:
    load_page(request_)
    record_receipt(request_uuid=request_.uuid, by=daniel, units=1, source="page")
    found = RefundRequest.objects.select_related("line__order", "customer").get(pk=request_.pk)
    with django_assert_num_queries(6):
        assert load_page(found).parcel is not None
