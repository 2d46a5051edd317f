"""What the customer reads: where it stands, what happens next, by when; and no word from behind the counter."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from intake.shop_clock import one_business_day_after, shop_time, short_date, short_day, short_moment
from intake.standing import CaseFacts, short_words, standing_of, track_of
from intake.statuses import Status

NOW = datetime(2026, 11, 25, 18, 20, tzinfo=UTC)  # a Wednesday, 10:20 at the shop
FACTS = CaseFacts(
    status="working",
    since=NOW - timedelta(minutes=5),
    now=NOW,
    reopened=False,
    looked_at_before=False,
    prepared=False,
    amount="$129.00",
    card="Visa ending 4242",
    refund_reference="re_1",
    question_open_until=NOW + timedelta(days=14),
    return_code="RMA-7KQ2MX",
    return_status="waiting",
    return_check_at=NOW + timedelta(days=7),
)
BEHIND_THE_COUNTER = ("rule", "limit", "score", "tool", "budget", "model", "automatic", "approval")


@pytest.mark.parametrize("status", Status.values)
def test_every_status_says_where_it_stands_and_what_happens_next(status: str) -> None:
    standing = standing_of(replace(FACTS, status=status))
    for words in (standing.title, standing.text, standing.next_words):
        assert words
    all_words = f"{standing.title} {standing.text} {standing.next_words} {standing.after_by}".lower()
    assert not [word for word in BEHIND_THE_COUNTER if word in all_words]


@pytest.mark.parametrize("status", Status.values)
def test_every_track_has_four_points_and_one_place_to_be(status: str) -> None:
    marks = track_of(replace(FACTS, status=status))
    states = [mark.state for mark in marks]
    ended = status in {"refunded", "declined", "closed"}
    assert (len(marks), states.count("now")) == (4, 0 if ended else 1)
    assert states == sorted(states, key=["done", "ended", "now", "ahead"].index)


def test_only_a_refunded_request_says_that_money_was_sent() -> None:
    for status in Status.values:
        text = standing_of(replace(FACTS, status=status)).title
        assert ("We refunded $129.00" in text) is (status == "refunded")


def test_a_person_answers_within_one_business_day_and_a_late_one_says_so() -> None:
    in_time = standing_of(replace(FACTS, status="needs_approval"))
    late = standing_of(replace(FACTS, status="needs_approval", since=NOW - timedelta(days=3)))
    assert in_time.by == FACTS.since + timedelta(days=1)
    assert (late.by, "sorry" in late.next_words) == (None, True)


def test_only_what_a_review_prepared_is_said_to_be_prepared() -> None:
    with_staff = replace(FACTS, status="needs_approval")
    assert standing_of(with_staff).text == "A person decides with everything you sent."
    assert "prepared it" in standing_of(replace(with_staff, prepared=True)).text


@pytest.mark.parametrize("status", Status.values)
def test_no_status_promises_a_message(status: str) -> None:
    standing = standing_of(replace(FACTS, status=status))
    assert "hear from us" not in f"{standing.text} {standing.next_words} {standing.after_by}".lower()


def test_a_reopened_request_says_that_there_is_news() -> None:
    assert "again" in standing_of(replace(FACTS, status="needs_approval", reopened=True)).title


def test_a_reminder_and_an_arrived_parcel_are_told() -> None:
    waiting = replace(FACTS, status="awaiting_return")
    assert "remind you once" in standing_of(waiting).after_by
    assert "close the request" in standing_of(replace(waiting, reminded=True)).after_by
    assert standing_of(replace(waiting, return_status="received")).title == "Your parcel arrived"


def test_only_all_units_that_came_back_are_worth_the_agreed_amount() -> None:
    received = replace(FACTS, status="awaiting_return", return_status="received")
    assert standing_of(received).next_words.startswith("we refund $129.00 to your Visa ending 4242.")
    in_part = standing_of(replace(received, came_in_part=True)).next_words
    assert in_part.startswith("we refund what came back, to your Visa ending 4242.")


def test_a_decline_gives_its_words() -> None:
    assert standing_of(replace(FACTS, status="declined", decline_words="Sorry, no.")).text == "Sorry, no."


@pytest.mark.parametrize(
    ("came_in", "answered_by"),
    [
        ("2026-11-25T10:20", "2026-11-26T10:20"),  # Wednesday
        ("2026-11-27T16:00", "2026-11-30T16:00"),  # Friday to Monday
        ("2026-11-28T12:00", "2026-12-01T09:00"),  # Saturday counts from Monday morning
        ("2026-11-29T23:59", "2026-12-01T09:00"),
        ("2026-10-30T16:00", "2026-11-02T16:00"),  # over the end of summer time
    ],
)
def test_one_business_day_after(came_in: str, answered_by: str) -> None:
    zone = shop_time(NOW).tzinfo
    moment = datetime.fromisoformat(came_in).replace(tzinfo=zone)
    assert one_business_day_after(moment) == datetime.fromisoformat(answered_by).replace(tzinfo=zone)


@pytest.mark.parametrize(
    ("moment", "short", "date", "day"),
    [
        (NOW, "10:20", "today", "today"),
        (NOW + timedelta(days=1), "tomorrow, 10:20", "Nov 26", "tomorrow"),
        (NOW - timedelta(days=1), "yesterday, 10:20", "yesterday", "yesterday"),
        (NOW + timedelta(days=3), "Saturday, 10:20", "Nov 28", "Saturday, November 28"),
        (NOW - timedelta(days=3), "Nov 22, 10:20", "Nov 22", "Sunday, November 22"),
        (NOW + timedelta(days=14), "Dec 9, 10:20", "Dec 9", "Wednesday, December 9"),
        (NOW + timedelta(days=60), "Jan 24, 2027", "Jan 24, 2027", "Sunday, January 24, 2027"),
    ],
)
def test_moments_are_said_short_in_the_shops_time(moment: datetime, short: str, date: str, day: str) -> None:
    assert (short_moment(moment, NOW), short_date(moment, NOW), short_day(moment, NOW)) == (short, date, day)


def test_a_refund_that_needs_the_customers_answer_stands_at_their_answer() -> None:
    on_its_way = replace(FACTS, status="refunding")
    waits = replace(on_its_way, refund_waits_for_customer=True)
    marks = [(mark.label, mark.state) for mark in track_of(waits)]
    assert marks == [("Received", "done"), ("Looked at", "done"), ("Your answer", "now"), ("Money sent", "ahead")]
    assert [mark.label for mark in track_of(on_its_way)][-1] == "Money on its way"
    assert standing_of(waits).tone == "customer"


def test_the_chip_asks_for_an_answer_only_while_the_refund_is_on_its_way() -> None:
    assert short_words("refunding", refund_waits_for_customer=True) == ("Waits for your answer", "customer")
    assert short_words("refunding") == ("Money on its way", "paid")
    assert short_words("refunded", refund_waits_for_customer=True) == ("Refunded", "paid")
