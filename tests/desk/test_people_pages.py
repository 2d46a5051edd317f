"""The pages of accounts and groups: tokens that can be revoked, names that clash, groups the desk fills itself."""

from __future__ import annotations

from datetime import UTC, datetime
from html import unescape
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission, User
from django.core.management import call_command
from django.test import Client
from rest_framework.authtoken.models import Token

from desk.admin.people import FILLED_BY_THE_DESK
from desk.groups import GROUPS
from tests.factories import CustomerFactory, StaffFactory

pytestmark = pytest.mark.django_db
CLASH = "A user with that username already exists."


@pytest.fixture
def root() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("root@example.com", "root@example.com"))
    return client


@pytest.fixture
def priya() -> User:
    return CustomerFactory(username="priya.raman@example.com")


@pytest.fixture
def with_token(priya: User) -> User:
    Token.objects.create(user=priya)
    Token.objects.update(created=datetime(2026, 3, 12, 17, 5, tzinfo=UTC))
    return priya


def page_of(person: User) -> str:
    return f"/desk/auth/user/{person.pk}/change/"


def revoke(person: User) -> str:
    return f"/desk/auth/user/{person.pk}/revoke-token/"


def words(answer: Any) -> str:
    return unescape(answer.content.decode())


def test_a_persons_page_says_whether_there_is_a_token_and_since_when(
    root: Client, lead: Client, with_token: User, daniel: User
) -> None:
    since = "There is one since Thursday, March 12, 2026, 10:05 PDT."
    key = Token.objects.get().key
    for client, may_revoke in ((root, True), (lead, False)):
        page = words(client.get(page_of(with_token)))
        assert (since in page, f'href="{revoke(with_token)}"' in page, key in page) == (True, may_revoke, False)
        page = words(client.get(page_of(daniel)))
        assert ("There is none." in page, "Revoke the token" in page) == (True, False)


def test_a_token_is_revoked_after_one_more_question(root: Client, with_token: User) -> None:
    asked = words(root.get(revoke(with_token)))
    assert "Programs that use the token of Priya Raman are refused from then on" in asked
    assert Token.objects.exists()
    answer = root.post(revoke(with_token), follow=True)
    assert (answer.redirect_chain, Token.objects.exists()) == ([(page_of(with_token), 302)], False)
    assert "The API token of Priya Raman is revoked; it opens nothing any more." in words(answer)
    assert LogEntry.objects.get().get_change_message() == "Revoked the API token."
    assert "Priya Raman has no API token; nothing was done." in words(root.post(revoke(with_token), follow=True))
    assert LogEntry.objects.count() == 1


def test_only_who_may_change_people_revokes(lead: Client, support: Client, with_token: User) -> None:
    for client in (lead, support):
        for answer in (client.get(revoke(with_token)), client.post(revoke(with_token))):
            assert answer.status_code == 403
    assert Client().post(revoke(with_token)).status_code == 302
    assert Token.objects.exists()
    changer = Client()
    changer.force_login(StaffFactory(permissions=["auth.change_user", "auth.view_user"]))
    assert changer.post(revoke(with_token)).status_code == 302
    assert not Token.objects.exists()


def test_nobody_is_found_at_a_made_up_address(root: Client) -> None:
    assert root.post("/desk/auth/user/999999/revoke-token/").status_code == 404


def test_a_name_that_differs_by_capitals_is_refused_with_a_sentence(root: Client, priya: User, daniel: User) -> None:
    given = {"username": "Priya.Raman@Example.com", "usable_password": "false"}
    added = root.post("/desk/auth/user/add/", given)
    changed = root.post(
        page_of(daniel),
        {"username": "Priya.Raman@Example.com", "date_joined_0": "2026-03-12", "date_joined_1": "10:00"},
    )
    for answer in (added, changed):
        assert (answer.status_code, CLASH in words(answer)) == (200, True)
    daniel.refresh_from_db()
    assert daniel.username.startswith("daniel.")
    assert User.objects.filter(username__iexact=priya.username).count() == 1


def test_the_desks_own_groups_are_changed_by_nobody_and_say_why(root: Client) -> None:
    for name, codes in GROUPS.items():
        group = Group.objects.get(name=name)
        address = f"/desk/auth/group/{group.pk}"
        page = words(root.get(f"{address}/change/"))
        assert (FILLED_BY_THE_DESK in page, 'name="_save"' in page) == (True, False)
        assert root.post(f"{address}/change/", {"name": "fewer", "permissions": []}).status_code == 403
        assert root.post(f"{address}/delete/", {"post": "yes"}).status_code == 403
        assert Group.objects.get(name=name).permissions.count() == len(codes)


def test_a_group_of_the_shops_own_is_changed_and_removed(root: Client) -> None:
    own = Group.objects.create(name="packers")
    address, wanted = f"/desk/auth/group/{own.pk}", Permission.objects.get(codename="view_order")
    page = words(root.get(f"{address}/change/"))
    assert (FILLED_BY_THE_DESK in page, 'name="_save"' in page) == (False, True)
    assert root.post(f"{address}/change/", {"name": "packing", "permissions": [wanted.pk]}).status_code == 302
    assert list(Group.objects.get(name="packing").permissions.all()) == [wanted]
    assert root.post(f"{address}/delete/", {"post": "yes"}).status_code == 302
    assert not Group.objects.filter(pk=own.pk).exists()


def test_migrating_again_gives_the_desks_groups_what_they_need_and_leaves_the_shops(db: None) -> None:
    own = Group.objects.create(name="packers")
    own.permissions.set([Permission.objects.get(codename="view_order")])
    Group.objects.get(name="support").permissions.clear()
    for _ in range(2):
        call_command("migrate", verbosity=0)
        for name, codes in GROUPS.items():
            held = Group.objects.get(name=name).permissions.values_list("content_type__app_label", "codename")
            assert {f"{app}.{code}" for app, code in held} == set(codes)
        assert [permission.codename for permission in own.permissions.all()] == ["view_order"]
