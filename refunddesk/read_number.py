"""Reads numbers from the environment; what is none, or out of its bounds, gets a sentence that names the variable."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from django.core.exceptions import ImproperlyConfigured

Read = Callable[[str], str]


def whole_number(read: Read, name: str, default: int, *, low: int = 1, high: int = 1_000_000_000) -> int:
    """`read` gives a variable's text, empty when it is not set. Raises ImproperlyConfigured."""
    text = read(name).strip()
    if not text:
        return default
    if not re.fullmatch(r"[0-9]{1,12}", text) or not low <= int(text) <= high:
        raise ImproperlyConfigured(f"{name} must be a whole number from {low:,} to {high:,}, not {_shown(text)}.")
    return int(text)


def seconds(read: Read, name: str, default: float, *, high: float) -> float:
    """Zero or more. Raises ImproperlyConfigured."""
    text = read(name).strip()
    try:
        number = float(text) if text else default
    except ValueError:
        number = math.nan
    if not 0 <= number <= high:  # not a number is in no bounds
        raise ImproperlyConfigured(f"{name} must be a number of seconds from 0 to {high:g}, not {_shown(text)}.")
    return number


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}…")
