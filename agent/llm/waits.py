"""How long a provider asks to wait: from `Retry-After`, from the headers of the limit that is used up, or the body."""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

EPOCH_SECONDS = 1e9
EPOCH_MILLISECONDS = 1e11
SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
SPAN_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def asked_wait(headers: Mapping[str, str], body: Any, now: float) -> float | None:
    """Seconds to wait from `now` (epoch seconds), or None when the provider names no time."""
    names = {name.lower(): value for name, value in headers.items()}
    waits = [_retry_after(names, now), _exhausted(names, now), _exhausted(_headers_in(body), now)]
    return next((wait for wait in waits if wait is not None), None)


def _retry_after(headers: Mapping[str, str], now: float) -> float | None:
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds
    try:
        return max(parsedate_to_datetime(value).timestamp() - now, 0.0)
    except (ValueError, OverflowError):  # also a moment no calendar holds
        return None


def _exhausted(headers: Mapping[str, str], now: float) -> float | None:
    """The reset of whichever limit has nothing left; of several the latest."""
    waits = []
    for name, value in headers.items():
        if name.startswith("x-ratelimit-remaining") and _number(value) == 0:
            wait = _span(headers.get(name.replace("remaining", "reset"), ""), now)
            if wait is not None:
                waits.append(wait)
    return max(waits, default=None)


def _span(value: str, now: float) -> float | None:
    """`12m0s`, `5.289s`, plain seconds, or a moment in epoch seconds or milliseconds."""
    number = _number(value)
    if number is None:
        parts = SPAN.findall(value)
        return sum(float(count) * SPAN_SECONDS[unit] for count, unit in parts) if parts else None
    if number >= EPOCH_MILLISECONDS:
        number /= 1000
    return max(number - now, 0.0) if number >= EPOCH_SECONDS else number


def _headers_in(body: Any) -> dict[str, str]:
    """OpenRouter repeats the limited provider's headers in the body: `error.metadata.headers`."""
    for key in ("error", "metadata", "headers"):
        body = body.get(key) if isinstance(body, dict) else None
    return {str(name).lower(): str(value) for name, value in body.items()} if isinstance(body, dict) else {}


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None
