"""Signing in and out as a browser without JavaScript sees it, and who is sent where."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from payments.models import OrderLine
from tests.intake.test_pages import words

pytestmark = pytest.mark.django_db
UNKNOWN = "0b9a2c1e-5a53-4a0e-9d0f-2f1f0a6f7c11"
REFUND = "/orders/PH-20388/refund/KTL-09"


@pytest.mark.parametrize("path", ["/", "/requests", REFUND, f"/requests/{UNKNOWN}", f"/photos/{UNKNOWN}"])
def test_every_page_sends_strangers_to_sign_in_and_back(client: Client, db: None, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer["Location"]) == (302, f"/sign-in?next={path}")


@pytest.mark.parametrize(("is_staff", "home"), [(False, "/"), (True, "/desk/")])
def test_signing_in_takes_any_case_and_leads_home(client: Client, db: None, is_staff: bool, home: str) -> None:
    User.objects.create_user("priya.raman@example.com", password="a long enough one", is_staff=is_staff)
    given = {"username": "Priya.Raman@Example.COM", "password": "a long enough one"}
    answer = client.post("/sign-in", given)
    assert (answer.status_code, answer["Location"]) == (302, home)


def test_a_foreign_next_is_not_followed(client: Client, db: None) -> None:
    User.objects.create_user("a@example.com", password="a long enough one")
    given = {"username": "a@example.com", "password": "a long enough one", "next": "https://evil.example/"}
    assert client.post("/sign-in", given)["Location"] == "/"


def test_a_wrong_password_keeps_the_address_and_says_so(client: Client, db: None) -> None:
    answer = client.post("/sign-in", {"username": "a@example.com", "password": "wrong"})
    assert "The e-mail or the password is wrong." in words(answer)
    assert 'value="a@example.com"' in words(answer)


def test_the_demo_lists_its_accounts_and_a_real_shop_does_not(client: Client, priya: User, settings: Any) -> None:
    settings.DEMO = True
    assert "priya.raman@example.com" in words(client.get("/sign-in"))
    settings.DEMO = False
    assert "priya.raman@example.com" not in words(client.get("/sign-in"))


@pytest.mark.parametrize("wanted", ["/sign-in", "/sign-in?next=/sign-in", "http://testserver/sign-in"])
def test_who_is_signed_in_and_sent_to_sign_in_comes_home(priyas_browser: Client, wanted: str) -> None:
    answer = priyas_browser.get("/sign-in", {"next": wanted})
    assert (answer.status_code, answer["Location"]) == (302, "/")


@pytest.mark.parametrize("path", ["/", "/requests", REFUND])
def test_no_browser_keeps_a_page_for_who_comes_after_signing_out(
    priyas_browser: Client, kettle: OrderLine, path: str
) -> None:
    answer = priyas_browser.get(path)
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]


def test_the_address_that_signs_out_shows_a_button(priyas_browser: Client) -> None:
    answer = priyas_browser.get("/sign-out")
    assert (answer.status_code, answer["Allow"]) == (405, "POST, OPTIONS")
    assert "Do you want to sign out?" in words(answer)
    assert priyas_browser.get("/").status_code == 200
    assert Client().get("/sign-out")["Location"] == "/sign-in"


def test_signing_out_needs_a_post(priyas_browser: Client) -> None:
    assert priyas_browser.get("/sign-out").status_code == 405
    assert priyas_browser.post("/sign-out")["Location"] == "/sign-in"
    assert priyas_browser.get("/").status_code == 302
