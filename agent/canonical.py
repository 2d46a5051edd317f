"""One written form for each value, so that a digest computed again is the same."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any


def digest_of(value: Any) -> str:
    """SHA-256 (hex) of a JSON value in its one canonical form: keys sorted, no spaces, ASCII."""
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def iso(moment: datetime) -> str:
    """The moment in UTC, the same text whatever zone it is read in."""
    return moment.astimezone(UTC).isoformat()
