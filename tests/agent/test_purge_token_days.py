"""What the models used is kept for 400 days and then forgotten, a thousand rows at a time."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.auth.models import User

from agent import purge_token_days as module
from agent.llm.token_ledger import today
from agent.models import TokenDay
from agent.purge_token_days import purge_token_days
from agent.tasks import purge_token_days as task
from tests.factories import CustomerFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def customer() -> User:
    return CustomerFactory()


def used(customer: User, days_ago: int, provider: str = "groq") -> TokenDay:
    day = today() - timedelta(days=days_ago)
    return TokenDay.objects.create(day=day, provider=provider, customer=customer, calls=1, tokens_in=10)


def kept() -> set[int]:
    """How many days ago."""
    return {(today() - day).days for day in TokenDay.objects.values_list("day", flat=True)}


def test_a_day_more_than_400_days_ago_is_forgotten(customer: User) -> None:
    for days_ago in (0, 400, 401):
        used(customer, days_ago)
    assert purge_token_days() == 1
    assert kept() == {0, 400}


def test_a_purge_is_bounded_and_takes_the_oldest_first(customer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_AT_ONCE", 2)
    for days_ago in (401, 403, 402):
        used(customer, days_ago)
    assert purge_token_days() == 2
    assert kept() == {401}
    assert [purge_token_days(), purge_token_days()] == [1, 0]


def test_the_customer_stays_when_the_day_goes(customer: User) -> None:
    used(customer, 500)
    used(customer, 500, "mistral")
    assert purge_token_days() == 2
    assert User.objects.get() == customer


def test_beat_asks_for_it_every_hour(customer: User) -> None:
    used(customer, 500)
    task()
    assert kept() == set()
    entry = settings.CELERY_BEAT_SCHEDULE["purge-token-days"]
    assert (entry["task"], entry["schedule"]) == (task.name, 3600.0)
