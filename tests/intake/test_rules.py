"""Every rule of an automatic refund, on both sides of every edge."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.rule_facts import facts_as_json, facts_from_json
from intake.rules import Facts, Verdict, failed, for_staff, judge

TIMES_FILE = Path(__file__).parents[1] / "field" / "scenarios" / "time_cases.json"
TIMES: dict[str, dict[str, Any]] = {case["id"]: case for case in json.loads(TIMES_FILE.read_text())["cases"]}
ZONE = "America/Los_Angeles"
ASKED = datetime(2026, 3, 20, 12, 0, tzinfo=ZoneInfo(ZONE))
GOOD = Facts(
    reason="damaged",
    amount_minor=3400,
    currency="USD",
    policy_currency="USD",
    limit_minor=5000,
    window_days=30,
    delivered_at=ASKED - timedelta(days=5),
    asked_at=ASKED,
    today=ASKED.date(),
    time_zone=ZONE,
    photo_verdict="yes",
    photo_addresses_reviewer=False,
    photo_used_in=(),
    refund_days=(),
    history_days=90,
    first_review=True,
    paused=False,
    spent_today_minor=0,
    budget_minor=50_000,
)


def asks(**changes: Any) -> list[str]:
    """The rules that ask for a person when these facts differ from a case in which all hold."""
    return [verdict.rule for verdict in failed(judge(replace(GOOD, **changes)))]


def verdict_of(rule: str, **changes: Any) -> Verdict:
    return next(verdict for verdict in judge(replace(GOOD, **changes)) if verdict.rule == rule)


def test_a_small_clear_case_passes_every_rule() -> None:
    assert asks() == []


def test_the_verdicts_come_in_the_order_staff_read_them() -> None:
    rules = [verdict.rule for verdict in judge(GOOD)]
    assert rules == ["reason", "limit", "window", "photo", "history", "first_review", "paused", "budget"]


@pytest.mark.parametrize("reason", ["damaged", "defective", "wrong_item"])
def test_three_reasons_may_be_paid(reason: str) -> None:
    assert asks(reason=reason) == []


@pytest.mark.parametrize("reason", ["changed_mind", "something_new"])
def test_any_other_reason_asks(reason: str) -> None:
    assert asks(reason=reason) == ["reason"]


@pytest.mark.parametrize(("amount", "expected"), [(4999, []), (5000, []), (5001, ["limit"])])
def test_m08_the_limit_includes_its_own_amount(amount: int, expected: list[str]) -> None:
    assert asks(amount_minor=amount) == expected


def test_a_refused_limit_names_both_amounts() -> None:
    sentence = verdict_of("limit", amount_minor=12900).sentence
    assert sentence == "$129.00 is above the $50.00 limit for automatic refunds."


@pytest.mark.parametrize("currency", ["EUR", "JPY", "KWD"])
def test_m09_another_currency_asks_however_small_the_amount(currency: str) -> None:
    assert asks(currency=currency, amount_minor=1) == ["limit"]


@pytest.mark.parametrize(("days", "expected"), [(0, []), (30, []), (31, ["window"]), (-1, ["window"])])
def test_the_window_includes_its_last_day(days: int, expected: list[str]) -> None:
    assert asks(delivered_at=ASKED - timedelta(days=days)) == expected


def test_without_a_delivery_date_the_window_asks() -> None:
    assert asks(delivered_at=None) == ["window"]


def test_the_window_counts_to_the_day_it_was_asked_for_and_not_to_today() -> None:
    assert asks(delivered_at=ASKED - timedelta(days=30), today=ASKED.date() + timedelta(days=3)) == []


@pytest.mark.parametrize(
    ("delivered", "asked", "expected"),
    [
        # 8 March 2026, 02:00: clocks go forward, a calendar day of 23 hours.
        ("2026-02-18T23:59:00-08:00", "2026-03-20T00:01:00-07:00", []),
        ("2026-02-18T00:01:00-08:00", "2026-03-20T23:59:00-07:00", []),
        ("2026-02-17T23:59:00-08:00", "2026-03-20T00:01:00-07:00", ["window"]),
        # 1 November 2026, 02:00: clocks go back, a calendar day of 25 hours.
        ("2026-10-05T00:01:00-07:00", "2026-11-04T23:59:00-08:00", []),
        ("2026-10-04T23:59:00-07:00", "2026-11-04T00:01:00-08:00", ["window"]),
    ],
)
def test_days_are_calendar_days_also_when_the_clocks_change(delivered: str, asked: str, expected: list[str]) -> None:
    moments = {"delivered_at": datetime.fromisoformat(delivered), "asked_at": datetime.fromisoformat(asked)}
    assert asks(**moments) == expected


@pytest.mark.parametrize(("case", "inside"), [("t01", True), ("t02", False), ("t03", True), ("t06", False)])
def test_field_case_of_a_zone(case: str, inside: bool) -> None:
    times = TIMES[case]
    delivered = datetime.fromisoformat(re.sub(r" \(.*", "", times["delivered"])).astimezone(UTC)
    asked = datetime.fromisoformat(times["now"]).astimezone(UTC)
    expected = [] if inside else ["window"]
    assert times["expected"].startswith("inside" if inside else "outside")
    assert asks(delivered_at=delivered, asked_at=asked, time_zone=times["zone"]) == expected


def test_t09_the_date_belongs_to_the_line() -> None:
    assert asks(delivered_at=ASKED - timedelta(days=40)) == ["window"]
    assert asks(delivered_at=ASKED - timedelta(days=5)) == []


@pytest.mark.parametrize(("days", "expected"), [(0, ["history"]), (89, ["history"]), (90, ["history"]), (91, [])])
def test_t10_a_refund_counts_up_to_its_ninetieth_day(days: int, expected: list[str]) -> None:
    assert asks(refund_days=(GOOD.today - timedelta(days=days),)) == expected


def test_history_names_the_latest_refund_or_how_many() -> None:
    days = (date(2026, 3, 18), date(2026, 1, 2))
    assert "2 days ago (within 90 days)" in verdict_of("history", refund_days=days[:1]).sentence
    assert verdict_of("history", refund_days=days).sentence == "The customer had 2 refunds within 90 days."


@pytest.mark.parametrize("verdict", ["no", "unclear", None])
def test_only_a_clear_yes_of_the_photo_passes(verdict: str | None) -> None:
    assert asks(photo_verdict=verdict) == ["photo"]


def test_a_picture_that_talks_to_the_reviewer_or_was_used_before_asks() -> None:
    assert asks(photo_addresses_reviewer=True) == ["photo"]
    assert asks(photo_used_in=(1003,)) == ["photo"]
    assert "#1003" in verdict_of("photo", photo_used_in=(1003,)).sentence


def test_a_picture_that_does_both_is_named_for_both() -> None:
    sentence = verdict_of("photo", photo_used_in=(1003,), photo_addresses_reviewer=True).sentence
    assert sentence.startswith("This picture was already sent with request #1003.")
    assert sentence.endswith(" A picture holds text that addresses the reviewer.")


def test_a_picture_too_plain_to_be_compared_asks_whatever_it_shows() -> None:
    assert asks(photo_too_plain=True) == ["photo"]
    plain = "The picture shows too little to be compared with earlier ones."
    assert verdict_of("photo", photo_too_plain=True).sentence == plain
    unclear = verdict_of("photo", photo_too_plain=True, photo_verdict="unclear").sentence
    assert unclear == f"The photo does not clearly show what the customer describes. {plain}"
    assert asks(photo_too_plain=True, reason="changed_mind") == ["reason"]


def test_facts_from_before_plain_pictures_asked_can_be_read() -> None:
    written = facts_as_json(replace(GOOD, photo_too_plain=True))
    assert facts_from_json(written).photo_too_plain is True
    del written["photo_too_plain"]
    assert facts_from_json(written) == GOOD


def test_facts_from_before_turned_pictures_were_compared_say_so() -> None:
    written = facts_as_json(replace(GOOD, photo_compared_turned=True))
    assert facts_from_json(written).photo_compared_turned is True
    del written["photo_compared_turned"]
    assert facts_from_json(written).photo_compared_turned is False


def test_no_rule_asks_how_pictures_were_compared() -> None:
    assert judge(replace(GOOD, photo_compared_turned=True)) == judge(GOOD)


def test_a_changed_mind_needs_no_photo() -> None:
    assert asks(reason="changed_mind", photo_verdict=None) == ["reason"]


@pytest.mark.parametrize(("spent", "expected"), [(46_600, []), (46_601, ["budget"])])
def test_the_budget_of_a_day_includes_its_last_cent(spent: int, expected: list[str]) -> None:
    assert asks(spent_today_minor=spent) == expected


def test_the_brake_and_a_later_review_ask() -> None:
    assert asks(paused=True) == ["paused"]
    assert asks(first_review=False) == ["first_review"]


def test_that_staff_are_in_is_never_told_to_staff() -> None:
    verdicts = judge(replace(GOOD, first_review=False, paused=True))
    assert [verdict.rule for verdict in for_staff(verdicts)] == ["paused"]


def test_the_case_of_story_nine_fails_four_rules() -> None:
    changes = {"amount_minor": 11900, "delivered_at": ASKED - timedelta(days=48), "refund_days": (GOOD.today,)}
    assert asks(reason="changed_mind", photo_verdict=None, **changes) == ["reason", "limit", "window", "history"]


@given(
    amount=st.integers(1, 20_000),
    days=st.integers(-5, 400),
    verdict=st.sampled_from(["yes", "no", "unclear", None]),
    ago=st.lists(st.integers(0, 400), max_size=3),
    spent=st.integers(0, 100_000),
)
def test_all_rules_hold_exactly_when_each_sentence_of_the_policy_does(
    amount: int, days: int, verdict: str | None, ago: list[int], spent: int
) -> None:
    expected = (
        amount <= 5000
        and 0 <= days <= 30
        and verdict == "yes"
        and not any(day <= 90 for day in ago)
        and spent + amount <= 50_000
    )
    changes = {
        "amount_minor": amount,
        "delivered_at": ASKED - timedelta(days=days),
        "photo_verdict": verdict,
        "refund_days": tuple(GOOD.today - timedelta(days=day) for day in ago),
        "spent_today_minor": spent,
    }
    assert (asks(**changes) == []) is expected


def test_every_verdict_is_json_with_a_sentence() -> None:
    for verdict in judge(replace(GOOD, refund_days=(date(2026, 3, 1),))):
        kept = json.loads(json.dumps(verdict.as_json()))
        assert set(kept) == {"rule", "inputs", "outcome", "sentence"}
        assert kept["sentence"].endswith(".")
