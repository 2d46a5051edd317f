"""Counts in the cache of what somebody outside tries, so that it can be bounded. While the cache is away nothing is:
people must be able to go on."""

from __future__ import annotations

import hashlib
import logging

from django.core.cache import cache

logger = logging.getLogger(__name__)


def key_of(what: str, counted: str) -> str:
    """`counted` is a person's address, say, which the cache need not know."""
    return f"{what}:{hashlib.sha256(counted.encode('utf-8', 'replace')).hexdigest()}"


def counts(*keys: str) -> dict[str, int]:
    """Of the keys that were counted up; an empty key counts nothing."""
    try:
        return cache.get_many([key for key in keys if key])
    except Exception:
        logger.exception("Counts could not be read; nobody is slowed down.")
        return {}


def count_up(*keys: str, seconds: int) -> None:
    """Each starts anew `seconds` after its first."""
    try:
        for key in filter(None, keys):
            _count_one(key, seconds)
    except Exception:
        logger.exception("Something could not be counted; nobody is slowed down.")


def forget(key: str) -> None:
    try:
        cache.delete(key)
    except Exception:
        logger.exception("A count could not be forgotten.")


def _count_one(key: str, seconds: int) -> None:
    cache.add(key, 0, seconds)
    try:
        cache.incr(key)
    except ValueError:  # it expired between the two calls
        cache.set(key, 1, seconds)
