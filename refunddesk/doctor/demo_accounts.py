"""Accounts of the demo shop outside the demo: their password is printed in the README."""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.contrib.auth.models import User

from refunddesk.demo_shop.people import EVERYONE
from refunddesk.doctor.finding import Finding

ABOUT = "accounts"


def demo_accounts() -> Iterator[Finding]:
    """Only the demo's own are tried: each try is as slow as a sign-in."""
    if settings.DEMO:
        return
    emails = [person.email for person in EVERYONE]
    active = list(User.objects.filter(username__in=emails, is_active=True).order_by("-is_staff", "username"))
    known = {encoded for encoded in {one.password for one in active} if check_password(settings.DEMO_PASSWORD, encoded)}
    open_doors = [one for one in active if one.password in known]
    if not open_doors:
        yield Finding("ok", ABOUT, "nobody of the demo shop can sign in with the demo's password")
        return
    words = (
        f"{_named(open_doors)} can sign in with the demo's password, which everybody may read: make the account "
        "inactive on the desk, or run `manage.py changepassword` for it; the demo belongs into a database of its own"
    )
    yield Finding("missing", ABOUT, words)


def _named(users: list[User]) -> str:
    """Staff first."""
    first = f"{users[0].username}, {'staff' if users[0].is_staff else 'a customer'},"
    more = len(users) - 1
    return f"{first} and {more} more of the demo shop" if more else first
