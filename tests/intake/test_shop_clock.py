"""Days the shop promises: they end with the day, over summer time too, and every text says what the moment is."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.test import override_settings
from hypothesis import example, given
from hypothesis import strategies as st

from intake.shop_clock import deadline, deadline_name, ends_its_day, exact_moment, shop_time, short_deadline

# Clocks that are set in the night and at midnight itself, by half an hour, and never.
ZONES = (
    "America/Los_Angeles",
    "America/New_York",
    "America/Sao_Paulo",
    "America/Havana",
    "Europe/Berlin",
    "Africa/Cairo",
    "Asia/Beirut",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
)
ONE_DAY = timedelta(days=1)
MINUTES_A_DAY = 1440
moments = st.datetimes(datetime(2005, 1, 1), datetime(2037, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
zones = st.sampled_from(ZONES)


def at(text: str, zone: str = "America/Los_Angeles") -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))


def dates_around(moment: datetime) -> tuple[date, date]:
    """Of a moment, and of what follows it without a gap."""
    return shop_time(moment).date(), shop_time(moment.astimezone(UTC) + datetime.resolution).date()


@given(moment=moments, zone=zones, days=st.integers(0, 60))
@example(moment=at("2026-10-31T12:00"), zone="America/Los_Angeles", days=1)  # a day of 25 hours
@example(moment=at("2026-03-07T23:59"), zone="America/Los_Angeles", days=1)  # a day of 23 hours
@example(moment=at("2018-11-03T10:00", "America/Sao_Paulo"), zone="America/Sao_Paulo", days=0)  # no midnight after it
@example(moment=at("2018-02-17T10:00", "America/Sao_Paulo"), zone="America/Sao_Paulo", days=0)  # 23:59 comes twice
@example(moment=at("2026-04-23T10:00", "Africa/Cairo"), zone="Africa/Cairo", days=0)
def test_whole_days_end_with_the_last_moment_of_the_last_of_them(moment: datetime, zone: str, days: int) -> None:
    with override_settings(SHOP_TIME_ZONE=zone):
        end = deadline(moment, timedelta(days=days))
        last = shop_time(moment).date() + timedelta(days=days)
        assert dates_around(end) == (last, last + ONE_DAY)
        assert end >= moment
        assert ends_its_day(end)
        assert ends_its_day(end.astimezone(UTC))
        assert not ends_its_day(end.astimezone(UTC) - datetime.resolution)


@given(moment=moments, zone=zones, minutes=st.integers(1, 60 * MINUTES_A_DAY).filter(lambda count: count % 1440))
def test_any_other_span_ends_exactly(moment: datetime, zone: str, minutes: int) -> None:
    with override_settings(SHOP_TIME_ZONE=zone):
        end = deadline(moment, timedelta(minutes=minutes))
        assert end.astimezone(UTC) == moment + timedelta(minutes=minutes)


@given(moment=moments, zone=zones, minutes=st.integers(1, 20) | st.integers(1, 20).map(lambda day: day * MINUTES_A_DAY))
def test_texts_leave_the_time_of_day_out_only_where_the_whole_day_counts(
    moment: datetime, zone: str, minutes: int
) -> None:
    with override_settings(SHOP_TIME_ZONE=zone):
        end = deadline(moment, timedelta(minutes=minutes))
        clock = "" if minutes >= MINUTES_A_DAY else f", {shop_time(end):%H:%M}"
        day = f"{shop_time(end):%A, %B} {shop_time(end).day}"
        assert deadline_name(end) == day + clock
        assert (short_deadline(end, moment)[-6:] == f" {shop_time(end):%H:%M}") is bool(clock)


@pytest.mark.parametrize(
    ("span", "short", "long"),
    [
        (timedelta(days=14), "Wednesday, December 9", "Wednesday, December 9"),
        (timedelta(days=1), "tomorrow", "Thursday, November 26"),
        (timedelta(0), "today", "Wednesday, November 25"),
        (timedelta(minutes=10), "today, 10:30", "Wednesday, November 25, 10:30"),
        (timedelta(hours=36), "tomorrow, 22:20", "Thursday, November 26, 22:20"),
        (timedelta(hours=84), "Saturday, November 28, 22:20", "Saturday, November 28, 22:20"),
    ],
)
def test_a_deadline_in_words(span: timedelta, short: str, long: str) -> None:
    now = at("2026-11-25T10:20")
    end = deadline(now, span)
    assert (short_deadline(end, now), deadline_name(end)) == (short, long)


def test_a_promised_day_is_over_at_midnight_and_not_before() -> None:
    end = deadline(at("2026-11-30T09:18:49"), timedelta(days=14))
    assert end == at("2026-12-14T23:59:59.999999")
    assert exact_moment(end) == "Monday, December 14, 2026, 23:59 PST"
    assert time.max == end.time()
