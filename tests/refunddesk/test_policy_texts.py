from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from django.apps.registry import Apps

from intake.models import PolicySection, PolicyVersion
from intake.policy_in_force import fill_policy, policy_in_force
from intake.policy_texts import DEFAULT_TEXTS, PLACEHOLDERS, render_section
from intake.rules import Facts, history_rule, limit_rule, window_rule
from payments.money import format_minor
from tests.factories import PolicyFactory

pytestmark = pytest.mark.django_db

ASKED = datetime(2026, 3, 20, 18, 0, tzinfo=UTC)


def text_of(policy: PolicyVersion, topic: str) -> str:
    return render_section(policy.sections.get(topic=topic))


def facts_under(policy: PolicyVersion) -> Facts:
    return Facts(
        reason="damaged",
        amount_minor=policy.auto_refund_limit_minor,
        currency=policy.currency,
        policy_currency=policy.currency,
        limit_minor=policy.auto_refund_limit_minor,
        window_days=policy.refund_window_days,
        delivered_at=ASKED - timedelta(days=policy.refund_window_days),
        asked_at=ASKED,
        today=date(2026, 3, 20),
        time_zone="America/Los_Angeles",
        photo_verdict="yes",
        photo_addresses_reviewer=False,
        photo_used_in=(),
        refund_days=(),
        history_days=policy.history_days,
        first_review=True,
        paused=False,
        spent_today_minor=0,
        budget_minor=policy.daily_budget_minor,
    )


def renumbered(**numbers: object) -> PolicyVersion:
    policy = policy_in_force()
    PolicyVersion.objects.filter(pk=policy.pk).update(**numbers)
    policy.refresh_from_db()
    return policy


def test_a_migrated_database_holds_version_one_with_the_numbers_of_the_settings_and_seven_topics() -> None:
    version = PolicyVersion.objects.get()
    assert (version.number, version.currency, version.auto_refund_limit_minor) == (1, "USD", 5000)
    assert (version.refund_window_days, version.return_check_minutes) == (30, 10_080)
    assert sorted(version.sections.values_list("topic", flat=True)) == sorted(PolicySection.Topic.values)


def test_the_newest_version_is_in_force() -> None:
    newest = PolicyFactory(number=7)
    assert policy_in_force() == newest


def test_a_missing_policy_is_filled_once() -> None:
    PolicySection.objects.all().delete()
    PolicyVersion.objects.all().delete()
    first = policy_in_force()
    assert policy_in_force() == first
    assert PolicyVersion.objects.count() == 1
    assert first.sections.count() == len(DEFAULT_TEXTS)


def test_migrating_again_adds_nothing_to_a_policy_that_is_there() -> None:
    PolicyFactory(number=2)
    fill_policy()
    assert list(PolicyVersion.objects.values_list("number", flat=True)) == [2, 1]


def test_a_migration_back_before_the_policy_existed_fills_nothing() -> None:
    PolicySection.objects.all().delete()
    PolicyVersion.objects.all().delete()
    fill_policy(apps=Apps())
    assert not PolicyVersion.objects.exists()


def test_every_name_in_the_texts_is_filled_and_no_number_is_written_by_hand() -> None:
    for section in policy_in_force().sections.all():
        names = set(PLACEHOLDERS)
        body = section.body
        for name in names:
            body = body.replace("{" + name + "}", "")
        address = "1200 Harbor Way, Unit 4\nOakland, CA 94607"
        assert not any(sign.isdigit() for sign in body.replace(address, ""))
        assert "{" not in render_section(section)


def test_a_name_the_version_does_not_hold_stays_as_typed() -> None:
    section = policy_in_force().sections.get(topic="overview")
    section.body = "{secret} {policy.pk} {0} {refund_window}"
    assert render_section(section) == "{secret} {policy.pk} {0} 30 days"


@pytest.mark.parametrize(("limit", "currency"), [(5000, "USD"), (1, "USD"), (5000, "JPY"), (12_345, "KWD")])
def test_the_limit_in_the_text_is_the_last_amount_the_rule_allows(limit: int, currency: str) -> None:
    policy = renumbered(auto_refund_limit_minor=limit, currency=currency)
    assert f"up to and including {format_minor(limit, currency)}" in text_of(policy, "automatic_refunds")
    facts = facts_under(policy)
    assert limit_rule(facts).outcome == "allow"
    assert limit_rule(replace(facts, amount_minor=limit + 1)).outcome == "ask"


@pytest.mark.parametrize(("days", "words"), [(30, "30 days"), (1, "1 day")])
def test_the_last_day_of_the_window_in_the_text_is_the_last_day_the_rule_allows(days: int, words: str) -> None:
    policy = renumbered(refund_window_days=days)
    for topic in ("overview", "automatic_refunds", "damaged_in_transit", "wrong_item", "changed_mind"):
        assert f"within {words} of delivery" in text_of(policy, topic)
    facts = facts_under(policy)
    assert window_rule(facts).outcome == "allow"
    assert window_rule(replace(facts, delivered_at=ASKED - timedelta(days=days + 1))).outcome == "ask"


def test_the_last_day_of_the_history_in_the_text_is_the_last_day_the_rule_counts() -> None:
    policy = renumbered(history_days=60)
    assert "no other refund in the last 60 days" in text_of(policy, "automatic_refunds")
    facts = facts_under(policy)
    assert history_rule(replace(facts, refund_days=(facts.today - timedelta(days=60),))).outcome == "ask"
    assert history_rule(replace(facts, refund_days=(facts.today - timedelta(days=61),))).outcome == "allow"


def test_prices_above_which_goods_come_back_and_the_budget_are_those_of_the_version() -> None:
    policy = renumbered(return_above_minor=20_001, wrong_item_return_above_minor=7_500, daily_budget_minor=90_000)
    assert "more than $200.01" in text_of(policy, "damaged_in_transit")
    assert "more than $200.01" in text_of(policy, "defective")
    assert "cost more than $75.00" in text_of(policy, "wrong_item")
    assert "no more than $900.00" in text_of(policy, "automatic_refunds")


@pytest.mark.parametrize(
    ("minutes", "words"), [(10_080, "7 days"), (1_440, "1 day"), (120, "2 hours"), (60, "1 hour"), (90, "90 minutes")]
)
def test_the_return_check_is_told_in_the_largest_unit_that_says_it_exactly(minutes: int, words: str) -> None:
    policy = renumbered(return_check_minutes=minutes, ship_within_days=5)
    text = text_of(policy, "returns")
    assert f"look for your parcel {words} after" in text
    assert f"look again {words} later" in text
    assert "within 5 days:" in text


@pytest.mark.parametrize(("days", "words"), [(365, "one year"), (730, "730 days"), (90, "90 days")])
def test_the_warranty_and_the_time_to_answer_are_those_of_the_version(days: int, words: str) -> None:
    policy = renumbered(warranty_days=days, reply_days=10)
    assert f"warranty of {words} from delivery" in text_of(policy, "defective")
    assert "10 days to answer" in text_of(policy, "overview")
