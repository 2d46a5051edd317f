"""Proof that beat and the worker really work: how long ago each gave its last pulse, on the clock of Redis itself.

Beat gives its pulse in the moment in which it sends the pulse task, a worker when it has taken that task: `worker` the
one for runs, `clock` the one for beat's own tasks.
"""

from __future__ import annotations

from typing import Literal

import redis
from django.conf import settings

Part = Literal["beat", "worker", "full", "clock"]
# Any one of these, fresh, proves the part: a worker with all its threads at work takes no pulse and is not broken.
PROOFS: dict[str, tuple[Part, ...]] = {"beat": ("beat",), "worker": ("worker", "full"), "clock": ("clock",)}
CLOCK_SILENT = "the worker for beat's own tasks"

EVERY_SECONDS = 10
STALE_SECONDS = 35
SOCKET_SECONDS = 1.0
_KEPT_MS = 24 * 60 * 60 * 1000


def connect() -> redis.Redis:
    """A client that gives up on each answer after a second and never tries twice."""
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_connect_timeout=SOCKET_SECONDS, socket_timeout=SOCKET_SECONDS, retry=None
    )


def give(part: Part) -> None:
    """Notes that `part` works now. Raises redis.RedisError when the broker does not answer in time."""
    with connect() as client:
        client.set(_key(part), 1, px=_KEPT_MS)


def beat_gives() -> str:
    """Evaluated by beat in its own process whenever it sends the pulse task."""
    give("beat")
    return "beat"


def age_seconds(client: redis.Redis, part: Part) -> float | None:
    """Seconds since the last pulse of `part`; None: none within a day."""
    left_ms = client.pttl(_key(part))
    return (_KEPT_MS - left_ms) / 1000 if left_ms >= 0 else None


def fresh(age: float | None) -> bool:
    return age is not None and age < STALE_SECONDS


def may_ask_worker(client: redis.Redis) -> bool:
    """True once per `EVERY_SECONDS`, whoever asks: then the caller may send a pulse task in place of a silent beat."""
    return bool(client.set("refunddesk:pulse:asked", 1, px=EVERY_SECONDS * 1000, nx=True))


def _key(part: Part) -> str:
    return f"refunddesk:pulse:{part}"
