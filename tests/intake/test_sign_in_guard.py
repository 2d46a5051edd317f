"""The brake on guessing passwords: what it counts, and that nobody stays outside when it cannot count."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import RequestFactory

from intake.refusals import Refusal
from intake.sign_in_guard import MAX_FAILURES, MAX_FAILURES_OF_A_PLACE, sign_in

pytestmark = pytest.mark.django_db
RIGHT = "a long enough one"
HOME = "198.51.100.7"


@pytest.fixture
def with_password(priya: User) -> User:
    priya.set_password(RIGHT)
    priya.save()
    return priya


def from_place(place: str, email: str, password: str) -> str:
    """`in`, or the code of the refusal."""
    try:
        sign_in(RequestFactory().post("/sign-in", REMOTE_ADDR=place), email=email, password=password)
    except Refusal as refusal:
        return refusal.code
    return "in"


def broken(*_: Any, **__: Any) -> Any:
    raise ConnectionError("away")


def test_an_account_rests_from_one_place_and_not_from_another(with_password: User) -> None:
    for _ in range(MAX_FAILURES):
        assert from_place(HOME, with_password.username, "wrong") == "not_authenticated"
    assert from_place(HOME, with_password.username, RIGHT) == "too_many_requests"
    assert from_place("203.0.113.9", with_password.username, RIGHT) == "in"


def test_made_up_addresses_count_for_the_place(with_password: User) -> None:
    for number in range(MAX_FAILURES_OF_A_PLACE):
        assert from_place(HOME, f"nobody{number}@example.com", "wrong") == "not_authenticated"
    assert from_place(HOME, with_password.username, RIGHT) == "too_many_requests"
    assert from_place("203.0.113.9", with_password.username, RIGHT) == "in"


def test_signing_in_forgets_the_accounts_failures_and_not_the_places(with_password: User) -> None:
    for number in range(MAX_FAILURES_OF_A_PLACE):
        if number % 9 == 8:
            assert from_place(HOME, with_password.username, RIGHT) == "in"
        assert from_place(HOME, with_password.username, "wrong") == "not_authenticated"
    assert from_place(HOME, with_password.username, RIGHT) == "too_many_requests"


def test_a_cache_that_is_away_slows_nobody_down_and_is_logged(
    with_password: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("get_many", "add", "incr", "set", "delete"):
        monkeypatch.setattr(cache, name, broken)
    for _ in range(MAX_FAILURES + 1):
        assert from_place(HOME, with_password.username, "wrong") == "not_authenticated"
    assert from_place(HOME, with_password.username, RIGHT) == "in"
    assert "nobody is slowed down" in caplog.text


def test_a_count_that_ends_between_two_calls_starts_again(with_password: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "add", lambda *_, **__: False)
    for _ in range(MAX_FAILURES):
        assert from_place(HOME, with_password.username, "wrong") == "not_authenticated"
    assert from_place(HOME, with_password.username, RIGHT) == "too_many_requests"
