"""How long something took or waits, in the few characters a list has room for."""

from __future__ import annotations

from datetime import datetime, timedelta

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def short_span(span: timedelta) -> str:
    """`2 h 14 min`, `3 d 4 h`, `58 min`, `12 s`; at most two units, never negative."""
    seconds = max(0, int(span.total_seconds()))
    if seconds < MINUTE:
        return f"{seconds} s"
    if seconds < HOUR:
        return f"{seconds // MINUTE} min"
    if seconds < DAY:
        return _two(seconds // HOUR, "h", seconds % HOUR // MINUTE, "min")
    return _two(seconds // DAY, "d", seconds % DAY // HOUR, "h")


def span_between(earlier: datetime, later: datetime) -> str:
    return short_span(later - earlier)


def short_milliseconds(duration_ms: int) -> str:
    """`4 ms`, `1.8 s`, `2 min`."""
    if duration_ms < 1000:
        return f"{duration_ms} ms"
    if duration_ms < MINUTE * 1000:
        return f"{duration_ms / 1000:.1f} s"
    return short_span(timedelta(milliseconds=duration_ms))


def _two(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large} {large_unit} {small} {small_unit}" if small else f"{large} {large_unit}"
