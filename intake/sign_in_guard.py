"""Slows down guessing of passwords: after ten wrong ones for an account from one address of the network, its sign-in
from there rests for a while; after fifty for whatever accounts, every sign-in from that address does."""

from __future__ import annotations

import hashlib
import logging

from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.cache import cache
from django.http import HttpRequest

from intake.refusals import Refusal

MAX_FAILURES = 10
MAX_FAILURES_OF_A_PLACE = 50
REST_SECONDS = 15 * 60
WRONG = "The e-mail or the password is wrong. Check both and try again."
TOO_MANY = "Too many wrong passwords for this e-mail. Try again in 15 minutes."
TOO_MANY_FROM_HERE = "Too many wrong passwords from your network. Try again in 15 minutes."

logger = logging.getLogger(__name__)


def sign_in(request: HttpRequest | None, *, email: str, password: str) -> User:
    """The active user with this e-mail (any case) and password. Raises Refusal not_authenticated, too_many_requests.

    While the cache is away nobody is slowed down: people must be able to sign in.
    """
    address = email.strip().lower()
    place = request.META.get("REMOTE_ADDR", "") if request else ""
    account_key, place_key = _key("account", f"{place} {address}"), _key("place", place) if place else ""
    failures = _failures(account_key, place_key)
    if failures.get(account_key, 0) >= MAX_FAILURES:
        raise Refusal("too_many_requests", TOO_MANY)
    if failures.get(place_key, 0) >= MAX_FAILURES_OF_A_PLACE:
        raise Refusal("too_many_requests", TOO_MANY_FROM_HERE)
    user = authenticate(request, username=address, password=password) if "\x00" not in address + password else None
    if not isinstance(user, User):
        _count(account_key, place_key)
        raise Refusal("not_authenticated", WRONG)
    if account_key in failures:
        _forget(account_key)
    return user


def _failures(*keys: str) -> dict[str, int]:
    try:
        return cache.get_many([key for key in keys if key])
    except Exception:
        logger.exception("Wrong passwords could not be read; nobody is slowed down.")
        return {}


def _count(*keys: str) -> None:
    try:
        for key in filter(None, keys):
            _count_one(key)
    except Exception:
        logger.exception("A wrong password could not be counted.")


def _count_one(key: str) -> None:
    cache.add(key, 0, REST_SECONDS)
    try:
        cache.incr(key)
    except ValueError:  # it expired between the two calls
        cache.set(key, 1, REST_SECONDS)


def _forget(key: str) -> None:
    try:
        cache.delete(key)
    except Exception:
        logger.exception("Wrong passwords could not be forgotten.")


def _key(kind: str, counted: str) -> str:
    """By account and place, so that a stranger's guesses do not lock the customer out; and by place alone."""
    return f"sign-in-failures:{kind}:{hashlib.sha256(counted.encode('utf-8', 'replace')).hexdigest()}"
