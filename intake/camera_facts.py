"""What a camera wrote into a picture about its moment and itself, and what that says beside the order.

Only the time and the device are read, never a place, an owner or a serial number. All of it is a claim: a clock may be
wrong and anyone can write these fields, so staff read it and no rule does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any, Literal
from zoneinfo import ZoneInfo

from PIL import Image

from payments.models import OrderLine

MAKE_TAG, MODEL_TAG = 0x010F, 0x0110
CAMERA_BLOCK = 0x8769
TAKEN_TAG, OFFSET_TAG = 0x9003, 0x9011
TAKEN = re.compile(r"(\d{4}):(\d\d):(\d\d) (\d\d):(\d\d):(\d\d)")
OFFSET = re.compile(r"([+-])(\d\d):(\d\d)")
# A device's name needs no more than these; without marks and quotes nothing in it can look like code or an order.
NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9 ().+-]+")
DEVICE_LENGTH = 40
YEARS = range(1995, 2101)
# A clock without an offset may stand in any zone of the earth.
FARTHEST_EAST, FARTHEST_WEST = timedelta(hours=14), timedelta(hours=12)
CLOCKS_DIFFER = timedelta(minutes=10)
Standing = Literal["plain", "odd", "against"]


@dataclass(frozen=True)
class Moments:
    """What a picture's time is laid beside; `sent_at` is when it was sent with a request or an answer."""

    placed_at: datetime
    delivered_at: datetime | None
    sent_at: datetime


@dataclass(frozen=True)
class CameraWord:
    """A sentence for staff, without a full stop. `against`: it was taken before the order was placed; `odd`: before the
    item was delivered, or after it was sent."""

    sentence: str
    standing: Standing


def read_camera(image: Image.Image) -> dict[str, str]:
    """`taken` (ISO 8601, with an offset where the camera wrote one) and `device`, each only when readable. Broken
    metadata says nothing and costs nothing."""
    try:
        exif = image.getexif()
        block: Mapping[int, Any] = exif.get_ifd(CAMERA_BLOCK)
        found = {
            "taken": _taken(block.get(TAKEN_TAG), block.get(OFFSET_TAG)),
            "device": _device(exif.get(MAKE_TAG), exif.get(MODEL_TAG)),
        }
    except Exception:  # the metadata is the customer's and may hold anything
        return {}
    return {name: value for name, value in found.items() if value}


def moments_of(line: OrderLine, sent_at: datetime) -> Moments:
    """`line` with its order."""
    return Moments(line.order.placed_at, line.delivered_at, sent_at)


def camera_word(camera: Mapping[str, Any], moments: Moments, time_zone: str) -> CameraWord | None:
    """What the picture's own time says; None when it has none. The times are told in the shop's `time_zone`."""
    taken = _read(camera.get("taken"))
    if taken is None:
        return None
    earliest, latest = _span(taken)
    when = f"Taken {taken.day} {taken:%B %Y %H:%M} by camera clock"
    if latest < moments.placed_at:
        apart = _days_between(taken, moments.placed_at, time_zone)
        return CameraWord(f"{when}, {apart} before the order was placed", "against")
    if earliest > moments.sent_at + CLOCKS_DIFFER:
        return CameraWord(f"{when}, after it was sent, so the camera's clock is wrong", "odd")
    if moments.delivered_at is None:
        return CameraWord(f"{when}, after the order was placed", "plain")
    if latest < moments.delivered_at:
        apart = _days_between(taken, moments.delivered_at, time_zone)
        return CameraWord(f"{when}, {apart} before the item was delivered", "odd")
    if earliest >= moments.delivered_at:
        apart = _days_between(taken, moments.delivered_at, time_zone)
        return CameraWord(f"{when}, {apart} after the item was delivered", "plain")
    return CameraWord(f"{when}, about when the item was delivered", "plain")


def _taken(written: Any, offset: Any) -> str:
    found = TAKEN.fullmatch(str(written).strip("\0 "))
    if found is None or int(found[1]) not in YEARS:
        return ""
    year, month, day, hour, minute, second = map(int, found.groups())
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=_zone(offset)).isoformat()
    except ValueError:  # the thirteenth month
        return ""


def _zone(offset: Any) -> tzinfo | None:
    found = OFFSET.fullmatch(str(offset).strip("\0 "))
    if found is None:
        return None
    away = timedelta(hours=int(found[2]), minutes=int(found[3]))
    return timezone(-away if found[1] == "-" else away)


def _device(make: Any, model: Any) -> str:
    """`Make Model`, the make once: many cameras write it into both."""
    first, second = _name(make), _name(model)
    return second if second.lower().startswith(first.lower()) else f"{first} {second}".strip()


def _name(written: Any) -> str:
    if not isinstance(written, str):
        return ""
    return " ".join(NOT_IN_A_NAME.sub(" ", written).split())[:DEVICE_LENGTH].strip()


def _read(written: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(written)
    except (TypeError, ValueError):
        return None


def _span(taken: datetime) -> tuple[datetime, datetime]:
    """The first and the last moment it may have been."""
    if taken.tzinfo is not None:
        return taken, taken
    there = taken.replace(tzinfo=UTC)
    return there - FARTHEST_EAST, there + FARTHEST_WEST


def _days_between(taken: datetime, moment: datetime, time_zone: str) -> str:
    """Calendar days; a clock without an offset is read as the shop's."""
    zone = ZoneInfo(time_zone)
    day = taken.date() if taken.tzinfo is None else taken.astimezone(zone).date()
    days = abs((moment.astimezone(zone).date() - day).days)
    return {0: "hours", 1: "1 day"}.get(days, f"{days} days")
