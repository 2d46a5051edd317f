"""The pages a mailed link opens: how long it works, and what a new password ends."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.test import Client
from rest_framework.authtoken.models import Token

from intake.password_forms import ENTER_AGAIN, ENTER_PASSWORD, NOT_THE_SAME
from intake.password_links import mail_link
from intake.sign_in_guard import MAX_FAILURES
from tests.intake.password_mail import NEW, PRIYA, mailed_link, set_password, words

pytestmark = pytest.mark.django_db
OLD_LINK = "It was used before, is too old, or did not come over whole. Your password is what it was."


def test_a_link_works_once(client: Client, imported: User) -> None:
    mail_link(imported.pk, "http://testserver")
    set_password(client, mailed_link())
    again = client.get(mailed_link())
    assert (again.status_code, OLD_LINK in words(again)) == (410, True)
    assert 'href="/password">Ask for a new link' in words(again)


def test_a_link_that_is_too_old_is_refused_with_a_sentence(
    client: Client, imported: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail_link(imported.pk, "http://testserver")
    later = datetime.now() + timedelta(days=3, seconds=2)  # noqa: DTZ005 - as Django's generator counts
    monkeypatch.setattr(PasswordResetTokenGenerator, "_now", lambda self: later)
    old = client.get(mailed_link())
    assert (old.status_code, OLD_LINK in words(old)) == (410, True)


@pytest.mark.parametrize(
    "end", ["set/MQ/nonsense", "set/MQ/set-password", "set/AAAA/x", "set/%F0/x", "set/OTk5OTk5OTk5OTk5OTk5OTk5OTk/x"]
)
def test_a_link_that_did_not_come_over_whole_is_refused(client: Client, imported: User, end: str) -> None:
    answer = client.get(f"/password/{end}")
    assert (answer.status_code, OLD_LINK in words(answer)) == (410, True)


def test_a_new_password_ends_other_sessions_and_the_token(client: Client, imported: User) -> None:
    elsewhere, token = Client(), Token.objects.create(user=imported)
    elsewhere.force_login(imported)
    mail_link(imported.pk, "http://testserver")
    assert elsewhere.get("/").status_code == 200
    set_password(client, mailed_link())
    assert (elsewhere.get("/").status_code, Token.objects.filter(pk=token.pk).exists()) == (302, False)


def test_wrong_passwords_before_it_do_not_keep_the_customer_out(client: Client, imported: User) -> None:
    for _ in range(MAX_FAILURES):
        client.post("/sign-in", {"username": PRIYA, "password": "wrong"})
    mail_link(imported.pk, "http://testserver")
    set_password(client, mailed_link())
    assert client.post("/sign-in", {"username": PRIYA, "password": NEW}).status_code == 302


@pytest.mark.parametrize(
    ("first", "again", "sentences"),
    [
        ("", "", [ENTER_PASSWORD, ENTER_AGAIN]),
        (NEW, "another one", [NOT_THE_SAME]),
        ("short", "short", ["This password is too short. It must contain at least 8 characters."]),
        (PRIYA, PRIYA, ["The password is too similar to the username."]),
    ],
)
def test_a_password_that_cannot_be_is_refused_beside_its_field(
    client: Client, imported: User, first: str, again: str, sentences: list[str]
) -> None:
    mail_link(imported.pk, "http://testserver")
    form = client.get(mailed_link())["Location"]
    page = words(client.post(form, {"new_password1": first, "new_password2": again}))
    assert re.findall(r'class="field-error" id="\w+">(.*?)</p>', page) == sentences
    assert "Your password must contain at least 8 characters." in page
    imported.refresh_from_db()
    assert not imported.has_usable_password()


def test_no_page_is_kept_and_no_address_gives_the_secret_away(client: Client, imported: User, settings: Any) -> None:
    mail_link(imported.pk, "http://testserver")
    link = mailed_link()
    secret = link.rsplit("/", 1)[1]
    form = client.get(link)["Location"]
    for path in (link, form, "/password", "/password/sent", "/password/done", "/password/set/MQ/nonsense"):
        answer = client.get(path)
        assert "no-store" in answer["Cache-Control"], path
        assert answer["Referrer-Policy"] == "same-origin", path
        page = answer.content.decode()
        assert (secret in page, secret in answer.get("Location", "")) == (False, False), path
        assert page.count("<script") == page.count("<script src="), path
        assert "http" not in re.sub(r'xmlns="[^"]*"', "", page), path
