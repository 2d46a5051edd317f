"""Sessions that have run out are removed by beat; those that have not stay."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.utils import timezone

from refunddesk.schedule import CLOCK_QUEUE, timetable
from refunddesk.tasks import clear_sessions

pytestmark = pytest.mark.django_db


def session() -> str:
    kept = SessionStore()
    kept["words"] = "typed"
    kept.save()
    return str(kept.session_key)


def test_beat_asks_for_it_every_hour() -> None:
    entry = timetable(15)["clear-sessions"]
    assert (entry["task"], entry["schedule"]) == (clear_sessions.name, 3600.0)
    assert entry["options"]["queue"] == CLOCK_QUEUE


def test_only_sessions_that_have_run_out_are_removed() -> None:
    old, open_one = session(), session()
    Session.objects.filter(pk=old).update(expire_date=timezone.now() - timedelta(seconds=1))
    clear_sessions()
    assert list(Session.objects.values_list("pk", flat=True)) == [open_one]
