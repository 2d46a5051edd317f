"""How a person is called wherever their name is shown or kept."""

from __future__ import annotations

from django.contrib.auth.models import User


def name_of(person: User) -> str:
    """The full name, or the sign-in name of someone without one."""
    return person.get_full_name() or person.get_username()
