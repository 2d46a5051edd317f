"""Slows down guessing of passwords: after ten wrong ones for an account from one
address of the network, its sign-in from there rests for a while."""

from __future__ import annotations

import hashlib

from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.cache import cache
from django.http import HttpRequest

from intake.refusals import Refusal

MAX_FAILURES = 10
REST_SECONDS = 15 * 60
WRONG = "The e-mail or the password is wrong. Check both and try again."


def sign_in(request: HttpRequest | None, *, email: str, password: str) -> User:
    """The active user with this e-mail (any case) and password. Raises Refusal not_authenticated, too_many_requests."""
    address = email.strip().lower()
    key = _key(request, address)
    if cache.get(key, 0) >= MAX_FAILURES:
        raise Refusal("too_many_requests", "Too many wrong passwords for this e-mail. Try again in 15 minutes.")
    user = authenticate(request, username=address, password=password) if "\x00" not in address + password else None
    if not isinstance(user, User):
        cache.add(key, 0, REST_SECONDS)
        cache.incr(key)
        raise Refusal("not_authenticated", WRONG)
    cache.delete(key)
    return user


def _key(request: HttpRequest | None, address: str) -> str:
    """By account and place, so that a stranger's guesses do not lock the customer out."""
    place = request.META.get("REMOTE_ADDR", "") if request else ""
    return f"sign-in-failures:{hashlib.sha256(f'{place} {address}'.encode('utf-8', 'replace')).hexdigest()}"
