from __future__ import annotations

import uuid
from typing import Any

import pytest
from celery import current_app
from django.utils import timezone

from agent.announce import announce_next_after_commit, ring
from agent.models import Run
from tests.factories import RequestFactory

pytestmark = pytest.mark.django_db


def test_the_bell_carries_the_runs_number_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, **given: sent.append((name, given["args"])))
    run = RequestFactory().runs.get()
    assert ring(run.pk)
    assert sent == [("agent.tasks.work", [str(run.pk)])]


def test_a_broker_that_is_away_never_raises_and_the_next_sweep_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, **given: Any) -> None:
        raise ConnectionError("refused")

    monkeypatch.setattr(current_app, "send_task", refuse)
    run = RequestFactory().runs.get()
    assert run.announced_at is not None
    assert not ring(run.pk)
    run.refresh_from_db()
    assert run.announced_at is None


def test_the_next_due_run_is_looked_for_after_the_commit(
    rung: list[uuid.UUID], django_capture_on_commit_callbacks: Any
) -> None:
    request = RequestFactory()
    with django_capture_on_commit_callbacks(execute=True):
        announce_next_after_commit(request.pk)
        Run.objects.all().delete()
        late = Run.objects.create(request=request, trigger="reply", key="ans:1", source_id="1", due_at=timezone.now())
    assert rung == [late.pk]
