"""Reads how the shop is reached, by post and by mail, from the environment; what cannot be gets a sentence."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ImproperlyConfigured
from environ import Env

LINE_END = "|"
NO_MAIL = {"EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend"}
LIKE = "smtp+tls://user:password@mail.example.com:587"


def read_address(text: str) -> tuple[str, ...]:
    """The lines of a postal address, which `|` parts: `Shop | Street 1 | Town`."""
    return tuple(line.strip() for line in text.split(LINE_END) if line.strip())


def read_mail(url: str) -> dict[str, Any]:
    """Django's EMAIL_ settings; an empty one sends nothing. Raises ImproperlyConfigured, which never tells the
    password."""
    if not url:
        return NO_MAIL
    try:
        found = Env.email_url_config(url)
    except (ImproperlyConfigured, ValueError):
        raise ImproperlyConfigured(f"EMAIL_URL must be written like {LIKE}.") from None
    return {name: value for name, value in found.items() if value not in (None, "")}
