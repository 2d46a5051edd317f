"""Which pictures every copy of this house has: those of `fixtures`, found again by the digest of their cleaned copy."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from django.conf import settings

from intake.picture import clean

FOLDERS = ("photos", "scenarios/photos")


def fixture_name(digest: str) -> str:
    """The file's name, or nothing for a picture of the shop's own. The first call of a process cleans each fixture,
    about two seconds; raises Refusal too_many_requests when the machine is busy with other pictures."""
    return _names().get(digest, "")


@cache
def _names() -> dict[str, str]:
    root = Path(settings.BASE_DIR) / "fixtures"
    files = [file for folder in reversed(FOLDERS) for file in sorted((root / folder).glob("*.jpg"))]
    return {clean(file.read_bytes()).digest: file.name for file in files}
