"""Who the HTTP API lets in: tokens first, then sessions with their CSRF token."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from intake.models import RefundRequest
from payments.models import OrderLine
from tests.intake.test_api import WISH

pytestmark = pytest.mark.django_db
UNKNOWN = "0b9a2c1e-5a53-4a0e-9d0f-2f1f0a6f7c11"


@pytest.fixture
def with_password(priya: User) -> User:
    priya.set_password("a long enough one")
    priya.save()
    return priya


def test_a_password_gives_a_token_and_the_token_opens_the_api(with_password: User) -> None:
    client = APIClient()
    given = {"email": "Priya.Raman@Example.com ", "password": "a long enough one"}
    answer = client.post("/api/v1/token", given, format="json")
    token = answer.json()["token"]
    assert (answer.status_code, token) == (200, Token.objects.get(user=with_password).key)
    client.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    assert client.get("/api/v1/orders").json() == []
    assert client.post("/api/v1/token", given, format="json").json() == {"token": token}


@pytest.mark.parametrize(
    "given",
    [
        {"email": "priya.raman@example.com", "password": "wrong"},
        {"email": "nobody@example.com", "password": "wrong"},
    ],
)
def test_a_wrong_password_and_an_unknown_address_answer_alike(with_password: User, given: dict[str, str]) -> None:
    answer = APIClient().post("/api/v1/token", given, format="json")
    assert (answer.status_code, answer.json()["error"]) == (401, "not_authenticated")
    assert answer.json()["message"] == "The e-mail or the password is wrong. Check both and try again."
    assert not Token.objects.exists()


def test_guessing_passwords_is_slowed_down(with_password: User) -> None:
    wrong = {"email": with_password.email, "password": "wrong"}
    codes = [APIClient().post("/api/v1/token", wrong, format="json").status_code for _ in range(11)]
    assert codes == [401] * 10 + [429]
    right = wrong | {"password": "a long enough one"}
    assert APIClient().post("/api/v1/token", right, format="json").json()["error"] == "too_many_requests"


def test_an_account_that_was_switched_off_gets_no_token_and_its_token_opens_nothing(with_password: User) -> None:
    token = Token.objects.create(user=with_password)
    User.objects.update(is_active=False)
    given = {"email": with_password.email, "password": "a long enough one"}
    assert APIClient().post("/api/v1/token", given, format="json").status_code == 401
    client = APIClient(HTTP_AUTHORIZATION=f"Token {token.key}")
    assert client.get("/api/v1/orders").json()["error"] == "not_authenticated"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("get", "orders"),
        ("post", "photos"),
        ("post", "requests"),
        ("get", f"requests/{UNKNOWN}"),
        ("post", f"requests/{UNKNOWN}/replies"),
    ],
)
def test_without_a_token_every_call_says_so(db: None, method: str, path: str) -> None:
    answer = getattr(APIClient(), method)(f"/api/v1/{path}")
    assert (answer.status_code, answer.json()["error"]) == (401, "not_authenticated")


def test_a_wrong_token_is_refused_even_beside_a_good_session(priya: User) -> None:
    client = APIClient(HTTP_AUTHORIZATION="Token wrong")
    client.force_login(priya)
    assert client.get("/api/v1/orders").status_code == 401


def test_a_session_may_read_and_needs_the_csrf_token_to_write(priya: User, kettle: OrderLine) -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(priya)
    assert client.get("/api/v1/orders").status_code == 200
    refused = client.post("/api/v1/requests", WISH, format="json")
    assert (refused.status_code, refused.json()["error"]) == (403, "forbidden")
    assert "Reload" in refused.json()["message"]
    assert not RefundRequest.objects.exists()
