"""Messages of the providers are kept for 90 days and then forgotten, a thousand at a time."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from payments import purge_provider_events as module
from payments.models import ProviderEvent
from payments.purge_provider_events import purge_provider_events
from payments.tasks import purge_provider_events as task

pytestmark = pytest.mark.django_db


def received(event_id: str, days: float) -> ProviderEvent:
    at = timezone.now() - timedelta(days=days)
    return ProviderEvent.objects.create(
        provider="stripe", event_id=event_id, kind="refund.updated", said_at=at, received_at=at
    )


def kept() -> set[str]:
    return set(ProviderEvent.objects.values_list("event_id", flat=True))


def test_what_is_older_than_90_days_is_forgotten() -> None:
    received("young", 0)
    received("on the edge", 89.99)
    received("old", 90.01)
    assert purge_provider_events() == 1
    assert kept() == {"young", "on the edge"}


def test_a_purge_is_bounded_and_takes_the_oldest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_AT_ONCE", 2)
    for days in (91, 93, 92):
        received(f"{days}", days)
    assert purge_provider_events() == 2
    assert kept() == {"91"}
    assert [purge_provider_events(), purge_provider_events()] == [1, 0]


def test_beat_asks_for_it_every_hour() -> None:
    received("old", 100)
    task()
    assert kept() == set()
    entry = settings.CELERY_BEAT_SCHEDULE["purge-provider-events"]
    assert (entry["task"], entry["schedule"]) == (task.name, 3600.0)
