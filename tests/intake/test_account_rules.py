"""What holds for every account: its name is in lower case, and its API token ends with its password."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from intake.account_rules import TAKEN
from intake.sign_in_guard import sign_in
from tests.factories import CustomerFactory

pytestmark = pytest.mark.django_db
OLD, NEW = "a long enough one", "another long one"


@pytest.fixture
def owner(priya: User) -> User:
    priya.set_password(OLD)
    priya.save()
    return priya


def token_of(owner: User, password: str = OLD) -> str:
    given = {"email": owner.username, "password": password}
    return APIClient().post("/api/v1/token", given, format="json").json()["token"]


def answers(token: str) -> int:
    return APIClient(HTTP_AUTHORIZATION=f"Token {token}").get("/api/v1/orders").status_code


def test_a_token_ends_when_another_password_is_set(owner: User) -> None:
    token = token_of(owner)
    assert answers(token) == 200
    owner.set_password(NEW)
    owner.save()
    assert answers(token) == 401
    assert token_of(owner, NEW) != token


def test_a_token_ends_when_the_account_is_switched_off_and_does_not_come_back(owner: User) -> None:
    token = token_of(owner)
    User.objects.get(pk=owner.pk).save()
    assert answers(token) == 200
    for is_active in (False, True):
        owner.is_active = is_active
        owner.save(update_fields=["is_active"])
    assert answers(token) == 401


def test_a_token_ends_when_the_password_is_taken_away(owner: User) -> None:
    token = token_of(owner)
    owner.set_unusable_password()
    owner.save()
    assert answers(token) == 401


def test_a_token_made_by_hand_stays_while_an_account_without_a_password_is_edited(priya: User) -> None:
    priya.set_unusable_password()
    priya.save()
    token = Token.objects.create(user=priya).key
    priya.first_name = "P."
    priya.save()
    assert answers(token) == 200


def test_writing_the_same_password_down_anew_keeps_the_token(owner: User, settings: Any) -> None:
    token = token_of(owner)
    hasher = settings.PASSWORD_HASHERS[0]
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.ScryptPasswordHasher", hasher]
    assert token_of(owner) == token
    owner.refresh_from_db()
    assert (owner.password.split("$")[0], answers(token)) == ("scrypt", 200)


def test_saving_something_else_keeps_the_token(owner: User) -> None:
    token = token_of(owner)
    fresh = User.objects.get(pk=owner.pk)
    fresh.first_name = "P."
    fresh.save()
    assert answers(token) == 200


@pytest.mark.parametrize("change", [{"password": make_password(NEW)}, {"is_active": False}])
def test_what_changes_while_somebody_signs_in_gives_no_token(
    owner: User, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    def slow(*args: Any, **kwargs: Any) -> User:
        user = sign_in(*args, **kwargs)
        User.objects.filter(pk=user.pk).update(**change)
        return user

    monkeypatch.setattr("intake.api.sign_in", slow)
    given = {"email": owner.username, "password": OLD}
    answer = APIClient().post("/api/v1/token", given, format="json")
    assert (answer.status_code, answer.json()["error"]) == (401, "not_authenticated")
    assert not Token.objects.exists()


def test_the_owner_signs_in_however_the_first_account_was_spelled(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", OLD)
    call_command("createsuperuser", username="Owner@Shop.com", email="Owner@Shop.com", interactive=False, verbosity=0)
    assert User.objects.get().username == "owner@shop.com"
    assert sign_in(None, email="Owner@Shop.com", password=OLD).is_superuser


def test_a_second_account_that_differs_by_capitals_is_refused_with_a_sentence(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    CustomerFactory(username="owner@shop.com")
    with pytest.raises(CommandError, match=TAKEN):
        call_command("createsuperuser", username="Owner@Shop.com", email="o@shop.com", interactive=False)
    with pytest.raises(ValidationError, match=TAKEN):
        User.objects.create_user("OWNER@shop.com")
    assert User.objects.count() == 1


def test_a_save_that_does_not_write_the_name_leaves_it(db: None) -> None:
    User.objects.bulk_create([User(username="Old@Shop.com")])
    old = User.objects.get()
    old.save(update_fields=["first_name"])
    assert User.objects.get().username == old.username == "Old@Shop.com"
    old.save()
    assert User.objects.get().username == "old@shop.com"
