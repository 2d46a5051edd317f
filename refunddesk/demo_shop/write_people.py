"""Writes the demo accounts."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.models import Group, User

from refunddesk.demo_shop.people import EVERYONE, Person


@dataclass(frozen=True)
class People:
    """The demo accounts by person."""

    users: dict[Person, User]

    def __getitem__(self, person: Person) -> User:
        return self.users[person]


def write_people() -> People:
    """Adds the accounts that are missing; those that are there stay as they are."""
    names = [person.email for person in EVERYONE]
    there = {user.username: user for user in User.objects.filter(username__in=names)}
    # One hash for all: the password is printed in the README, and ten slow hashes would make each start wait.
    password = make_password(settings.DEMO_PASSWORD) if len(there) < len(names) else ""
    return People({person: there.get(person.email) or _add(person, password) for person in EVERYONE})


def restore_people() -> People:
    """Like `write_people`, and what was changed on a demo account is put back. Whoever is signed in stays so, unless
    the password was changed."""
    people = write_people()
    for person, user in people.users.items():
        user.first_name, user.last_name, user.email = person.first_name, person.last_name, person.email
        user.is_active, user.is_staff, user.is_superuser = True, bool(person.group), False
        user.user_permissions.clear()
        user.groups.set(Group.objects.filter(name=person.group))
    _restore_passwords(list(people.users.values()))
    fields = ["first_name", "last_name", "email", "is_active", "is_staff", "is_superuser", "password"]
    User.objects.bulk_update(people.users.values(), fields)
    return people


def _add(person: Person, password: str) -> User:
    user = User.objects.create(
        username=person.email,
        email=person.email,
        first_name=person.first_name,
        last_name=person.last_name,
        is_staff=bool(person.group),
        password=password,
    )
    if person.group:
        user.groups.add(Group.objects.get(name=person.group))
    return user


def _restore_passwords(users: list[User]) -> None:
    hashes = {user.password for user in users}
    wrong = {encoded for encoded in hashes if not check_password(settings.DEMO_PASSWORD, encoded)}
    if wrong:
        fresh = make_password(settings.DEMO_PASSWORD)
        for user in users:
            user.password = fresh if user.password in wrong else user.password
