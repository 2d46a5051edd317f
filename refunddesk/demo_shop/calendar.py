"""Moments of the demo shop, counted back from its first day in the shop's time zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils import timezone


@dataclass(frozen=True)
class Calendar:
    """`today` is the shop's calendar day while seeding; every moment lies on an exact number of days before it."""

    now: datetime
    zone: ZoneInfo

    @property
    def today(self) -> date:
        return self.now.astimezone(self.zone).date()

    def at(self, days_ago: int, clock: str) -> datetime:
        """`clock` (`14:05`, shop time) on the day `days_ago` days before today; `days_ago` is at least 1."""
        day = self.today - timedelta(days=days_ago)
        return datetime.combine(day, time.fromisoformat(clock), tzinfo=self.zone)


def shop_calendar() -> Calendar:
    return Calendar(now=timezone.now(), zone=ZoneInfo(settings.SHOP_TIME_ZONE))
