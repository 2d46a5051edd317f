"""How people are called on the desk."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser, User

from intake.names import name_of


def full_name(user: User | AnonymousUser | None) -> str:
    """The full name, or the sign-in name of someone without one; empty for nobody."""
    if user is None or isinstance(user, AnonymousUser):
        return ""
    return name_of(user)


def first_name(user: User | None) -> str:
    if user is None:
        return ""
    return user.first_name or full_name(user)


def initials(user: User | None) -> str:
    """At most two letters for the round picture."""
    words = full_name(user).replace("@", " ").replace(".", " ").split()
    return "".join(word[0] for word in words[:2]).upper()
