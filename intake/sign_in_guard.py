"""Slows down guessing of passwords: after ten wrong ones for an account from one address of the network, its sign-in
from there rests for a while; after fifty for whatever accounts, every sign-in from that address does."""

from __future__ import annotations

from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.http import HttpRequest

from intake.counted import count_up, counts, forget, key_of
from intake.refusals import Refusal

MAX_FAILURES = 10
MAX_FAILURES_OF_A_PLACE = 50
REST_SECONDS = 15 * 60
WRONG = "The e-mail or the password is wrong. Check both and try again."
TOO_MANY = "Too many wrong passwords for this e-mail. Try again in 15 minutes."
TOO_MANY_FROM_HERE = "Too many wrong passwords from your network. Try again in 15 minutes."


def sign_in(request: HttpRequest | None, *, email: str, password: str) -> User:
    """The active user with this e-mail (any case) and password. Raises Refusal not_authenticated, too_many_requests.

    While the cache is away nobody is slowed down: people must be able to sign in.
    """
    address, place = email.strip().lower(), place_of(request)
    account_key = _account_key(place, address)
    place_key = key_of("sign-in-failures:place", place) if place else ""
    failures = counts(account_key, place_key)
    if failures.get(account_key, 0) >= MAX_FAILURES:
        raise Refusal("too_many_requests", TOO_MANY)
    if failures.get(place_key, 0) >= MAX_FAILURES_OF_A_PLACE:
        raise Refusal("too_many_requests", TOO_MANY_FROM_HERE)
    user = authenticate(request, username=address, password=password) if "\x00" not in address + password else None
    if not isinstance(user, User):
        count_up(account_key, place_key, seconds=REST_SECONDS)
        raise Refusal("not_authenticated", WRONG)
    if account_key in failures:
        forget(account_key)
    return user


def forget_failures(request: HttpRequest, username: str) -> None:
    """After another password was set from here: the wrong ones before it count no more."""
    forget(_account_key(place_of(request), username))


def place_of(request: HttpRequest | None) -> str:
    """The address in the network; empty where nobody knows it."""
    return request.META.get("REMOTE_ADDR", "") if request else ""


def _account_key(place: str, address: str) -> str:
    """By account and place, so that a stranger's guesses do not lock the customer out."""
    return key_of("sign-in-failures:account", f"{place} {address}")
