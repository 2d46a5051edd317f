"""Evaluations and copies are forgotten after a while, a few at a time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from agent.evaluation import purge as module
from agent.evaluation.purge import COPIES_KEPT_FOR, SUITES_KEPT, purge_evaluations
from agent.models import Evaluation, Trial
from agent.tasks import purge_evaluations as task
from intake.models import RefundRequest
from tests.factories import RequestFactory

pytestmark = pytest.mark.django_db


def suites(count: int, *, newest: datetime, **changes: Any) -> list[Evaluation]:
    """Newest first, an hour apart."""
    return Evaluation.objects.bulk_create(
        Evaluation(**{"kind": "suite", "status": "done", "created_at": newest - timedelta(hours=number), **changes})
        for number in range(count)
    )


def copy(age: timedelta, **changes: Any) -> Evaluation:
    case = {"kind": "again", "request": RequestFactory(status="declined"), "scenario": {"say": "My cup broke."}}
    return Evaluation.objects.create(**{**case, "status": "done", "created_at": timezone.now() - age, **changes})


def test_the_newest_suites_are_kept_and_the_others_go_with_their_trials() -> None:
    kept = suites(SUITES_KEPT, newest=timezone.now() - timedelta(days=3))
    (old,) = suites(1, newest=timezone.now() - timedelta(days=30))
    Trial.objects.create(evaluation=old, kind="limit_edges", scenario="one", passed=True)
    assert purge_evaluations() == 1
    assert set(Evaluation.objects.values_list("pk", flat=True)) == {one.pk for one in kept}
    assert not Trial.objects.exists()


def test_what_counts_against_a_limit_of_today_is_kept_however_many_there_are() -> None:
    suites(SUITES_KEPT + 5, newest=timezone.now(), created_at=timezone.now() - timedelta(hours=20))
    assert purge_evaluations() == 0


def test_a_copy_is_kept_for_ninety_days_and_its_request_for_ever() -> None:
    old, new = copy(COPIES_KEPT_FOR + timedelta(minutes=1)), copy(COPIES_KEPT_FOR - timedelta(minutes=1))
    assert purge_evaluations() == 1
    assert list(Evaluation.objects.all()) == [new]
    assert old.request is not None
    assert RefundRequest.objects.filter(pk=old.request.pk).exists()


def test_what_has_not_ended_is_left_to_those_who_end_it() -> None:
    copy(COPIES_KEPT_FOR * 2, status="running")
    assert purge_evaluations() == 0


def test_a_purge_is_bounded_and_takes_the_oldest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH", 2)
    copies = [copy(COPIES_KEPT_FOR + timedelta(days=number)) for number in (1, 2, 3)]
    task()
    assert list(Evaluation.objects.all()) == [copies[0]]


def test_beat_sends_it_every_hour_to_the_small_worker() -> None:
    entry = settings.CELERY_BEAT_SCHEDULE["purge-evaluations"]
    assert (entry["task"], entry["schedule"]) == (task.name, 3600.0)
    assert entry["options"]["queue"] == "refunddesk-clock"
