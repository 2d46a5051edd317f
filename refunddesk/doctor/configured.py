"""What is configured, read from the settings alone."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

import django
from django.conf import settings
from django.core.checks import ERROR, run_checks

from refunddesk.doctor.finding import Finding


def configured() -> Iterator[Finding]:
    yield Finding("ok", "versions", f"Python {platform.python_version()}, Django {django.get_version()}")
    yield _mode()
    yield _money()
    yield from _system_checks()


def without_password(url: str) -> str:
    """The address for a terminal: nobody's password belongs there."""
    parts = urlsplit(url)
    if parts.password is None:
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.replace(f":{parts.password}@", ":***@")))


def _mode() -> Finding:
    if settings.DEMO:
        return Finding("ok", "mode", f"demo shop (DEMO is on), data in {settings.DATA_DIR}")
    return Finding("ok", "mode", f"production for {', '.join(settings.ALLOWED_HOSTS) or 'no host'}")


def _money() -> Finding:
    """Who moves the money is a fact of each charge; here only whether Stripe can be asked and heard."""
    if not settings.STRIPE_SECRET_KEY:
        return Finding("note", "money", "charges of the shop's own book can be refunded; no STRIPE_SECRET_KEY is set")
    if not settings.STRIPE_WEBHOOK_SECRET:
        return Finding("missing", "money", "STRIPE_WEBHOOK_SECRET is not set: Stripe's messages are refused")
    return Finding("ok", "money", "charges of the shop's own book and of Stripe can be refunded")


def _system_checks() -> Iterator[Finding]:
    found = run_checks()
    if not found:
        yield Finding("ok", "checks", "Django's system checks found nothing")
    for message in found:
        hint = f" {message.hint}" if message.hint else ""
        yield Finding("missing" if message.level >= ERROR else "note", "checks", f"{message.msg}{hint}")
