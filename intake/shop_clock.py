"""Moments as the shop says them: in its own time zone, short, by business days, and the days it promises."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.conf import settings

SATURDAY = 5
DAYS_A_WEEK = 7
ONE_DAY = timedelta(days=1)


def shop_time(moment: datetime) -> datetime:
    return moment.astimezone(ZoneInfo(settings.SHOP_TIME_ZONE))


def one_business_day_after(moment: datetime) -> datetime:
    """The same hour of the next Monday to Friday; what comes in on a weekend counts from Monday morning, 9:00."""
    local = shop_time(moment)
    if local.weekday() >= SATURDAY:
        local = (local + timedelta(days=7 - local.weekday())).replace(hour=9, minute=0)
    following = local + timedelta(days=1)
    while following.weekday() >= SATURDAY:
        following += timedelta(days=1)
    return following


def deadline(moment: datetime, span: timedelta) -> datetime:
    """When what is promised for `span` after `moment` is over: whole days end with the last of them, which counts
    whole, in the shop's time zone; any other span ends exactly."""
    if span % ONE_DAY:
        return shop_time(moment.astimezone(UTC) + span)
    return _end_of(shop_time(moment).date() + span)


def ends_its_day(moment: datetime) -> bool:
    """Whether `moment` is the end of its day in the shop, as `deadline` gives it for whole days."""
    return moment.astimezone(UTC) == _end_of(shop_time(moment).date()).astimezone(UTC)


def _end_of(day: date) -> datetime:
    """Its last moment, so that it still has that date."""
    midnight = datetime.combine(day + ONE_DAY, time.min, tzinfo=ZoneInfo(settings.SHOP_TIME_ZONE))
    return shop_time(midnight.astimezone(UTC) - datetime.resolution)


def short_moment(moment: datetime, now: datetime) -> str:
    """`10:06` today, `tomorrow, 10:06`, `Thursday, 10:06` in the coming days, `Dec 3, 10:06`, `Dec 3, 2025` in
    another year."""
    local, today = shop_time(moment), shop_time(now)
    days = (local.date() - today.date()).days
    clock = f"{local:%H:%M}"
    if days == 0:
        return clock
    if days in {-1, 1}:
        return f"{'tomorrow' if days == 1 else 'yesterday'}, {clock}"
    if 1 < days < DAYS_A_WEEK:
        return f"{local:%A}, {clock}"
    return short_date(moment, now) if local.year != today.year else f"{local:%b} {local.day}, {clock}"


def short_date(moment: datetime, now: datetime) -> str:
    """`today`, `yesterday`, `Dec 3`, `Dec 3, 2025` in another year."""
    local, today = shop_time(moment), shop_time(now)
    days = (today.date() - local.date()).days
    if days in {0, 1}:
        return ("today", "yesterday")[days]
    date = f"{local:%b} {local.day}"
    return date if local.year == today.year else f"{date}, {local.year}"


def short_day(moment: datetime, now: datetime) -> str:
    """`today`, `tomorrow`, `Friday, December 4`; with the year when it is another one."""
    local, today = shop_time(moment), shop_time(now)
    days = (local.date() - today.date()).days
    if days in {-1, 0, 1}:
        return ("yesterday", "today", "tomorrow")[days + 1]
    day = f"{local:%A, %B} {local.day}"
    return day if local.year == today.year else f"{day}, {local.year}"


def short_deadline(moment: datetime, now: datetime) -> str:
    """As `short_day`; with the time of day (`today, 10:06`) when it does not end with its day."""
    day = short_day(moment, now)
    return day if ends_its_day(moment) else f"{day}, {shop_time(moment):%H:%M}"


def deadline_name(moment: datetime) -> str:
    """`Friday, December 4`, or `Friday, December 4, 10:06` when it does not end with its day: for a text that is
    read on any day."""
    return day_name(moment) if ends_its_day(moment) else f"{day_name(moment)}, {shop_time(moment):%H:%M}"


def day_name(moment: datetime) -> str:
    """`Friday, December 4`."""
    local = shop_time(moment)
    return f"{local:%A, %B} {local.day}"


def exact_moment(moment: datetime) -> str:
    """`Friday, December 4, 2026, 10:06 PST`, for whoever hovers."""
    local = shop_time(moment)
    return f"{local:%A, %B} {local.day}, {local.year}, {local:%H:%M %Z}"
