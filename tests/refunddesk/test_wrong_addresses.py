"""Addresses that lead nowhere, and those that no address can be."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from refunddesk.readable_address import SENTENCE
from tests.factories import CustomerFactory, StaffFactory

pytestmark = pytest.mark.django_db


def as_user(user: User) -> Client:
    browser = Client()
    browser.force_login(user)
    return browser


@pytest.mark.parametrize(
    "address", ["/desk/payments/refund/?status__exact=%00", "/desk/%00/", "/orders/%00", "/sign-in?next=/%00"]
)
def test_a_nul_in_an_address_is_refused_with_a_page(address: str) -> None:
    staff = StaffFactory(permissions=["payments.view_refund", "intake.view_refundrequest"])
    answer = as_user(staff).get(address)
    assert answer.status_code == 400
    assert SENTENCE in answer.content.decode()
    assert ("Go to the queues" in answer.content.decode()) == address.startswith("/desk/")
    assert "Content-Security-Policy" in answer.headers


@pytest.mark.parametrize("address", ["/api/v1/queue/%00", "/api/v1/orders?page=a%00", "/webhooks/%00"])
def test_a_program_reads_the_same_as_json(address: str) -> None:
    answer = Client().get(address)
    assert (answer.status_code, answer.json()) == (400, {"error": "invalid_input", "message": SENTENCE})


def test_a_percent_sign_before_two_noughts_is_none() -> None:
    assert Client().get("/policy?note=%2500").status_code == 200


@pytest.mark.parametrize("address", ["/desk/nowhere/", "/desk/queue/nowhere/", "/desk/payments/nowhere/"])
def test_staff_are_led_back_to_their_queues(address: str) -> None:
    answer = as_user(StaffFactory(permissions=["intake.view_refundrequest"])).get(address)
    page = answer.content.decode()
    assert answer.status_code == 404
    assert '<a class="button primary" href="/desk/">Back to the queues</a>' in page
    assert 'aria-label="Queues"' in page
    assert "another account" not in page


def test_staff_who_may_not_see_requests_get_no_counts_of_them() -> None:
    page = as_user(StaffFactory(permissions=["payments.view_refund"])).get("/desk/nowhere/").content.decode()
    assert '<a class="button primary" href="/desk/">Go to the desk</a>' in page
    assert 'aria-label="Queues"' not in page
    assert "another account" not in page


def test_a_customer_reads_the_shop_s_page() -> None:
    answer = as_user(CustomerFactory()).get("/nowhere")
    assert answer.status_code == 404
    assert "another account" in answer.content.decode()
