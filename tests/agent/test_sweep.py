"""The sweep: bells nobody heard, workers that died, and nothing that stays in work for ever."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from agent.give_up import give_up
from agent.models import Run
from agent.runs import claim
from agent.sweep import announce_due_runs, rescue_stranded_requests, take_from_the_dead
from agent.tasks import sweep_runs
from intake.models import RefundRequest
from payments.models import Charge
from tests.agent.work_off import open_card, titles, told, work_off
from tests.factories import RefundFactory, RequestFactory, RunFactory

pytestmark = pytest.mark.django_db


def ago(seconds: float) -> datetime:
    return timezone.now() - timedelta(seconds=seconds)


def dead_run(tries: int = 1, **changes: Any) -> RefundRequest:
    """A request whose worker died in the middle of its run's last try."""
    request = RequestFactory(**changes)
    assert claim(request.runs.get().pk) is not None
    Run.objects.filter(request=request).update(lease_until=ago(1), tries=tries)
    return request


def test_a_run_whose_lease_ran_out_is_queued_again_and_announced(
    rung: list[uuid.UUID], django_capture_on_commit_callbacks: Any
) -> None:
    request = dead_run()
    with django_capture_on_commit_callbacks(execute=True):
        assert take_from_the_dead() == 1
    run = request.runs.get()
    assert (run.status, run.token, run.lease_until, run.moved_request) == ("queued", None, None, True)
    assert rung == [run.pk]


def test_a_run_that_is_alive_is_left_alone() -> None:
    request = RequestFactory()
    claim(request.runs.get().pk)
    assert take_from_the_dead() == 0
    assert request.runs.get().status == "running"


def test_after_its_tries_a_run_ends_and_a_person_gets_the_request() -> None:
    request = dead_run(tries=3)
    assert take_from_the_dead() == 1
    request.refresh_from_db()
    assert (request.status, request.runs.get().status) == ("needs_approval", "failed")
    assert open_card(request).recommendation == "manual_review"
    assert titles(request) == ["The agent could not finish"]
    assert told(request) == ["person_is_looking"]


@pytest.mark.parametrize(
    ("refund", "stands"), [("succeeded", "refunded"), ("pending", "refunding"), ("reserved", "refunding")]
)
def test_a_failed_run_with_a_live_refund_is_finished_by_its_last_outcome(refund: str, stands: str) -> None:
    request = dead_run(tries=3)
    RefundRequest.objects.update(status="refunding")
    RefundFactory(charge=Charge.objects.get(), request_uuid=request.uuid, amount_minor=3400, status=refund)
    take_from_the_dead()
    request.refresh_from_db()
    assert (request.status, request.runs.get().status) == (stands, "failed")
    assert not request.approvals.exists()


def test_a_failed_run_with_a_refused_refund_comes_to_staff() -> None:
    request = dead_run(tries=3)
    RefundRequest.objects.update(status="refunding")
    RefundFactory(charge=Charge.objects.get(), request_uuid=request.uuid, status="failed", failure_reason="expired")
    take_from_the_dead()
    request.refresh_from_db()
    assert request.status == "needs_approval"
    assert "expired" in open_card(request).concerns[0]["text"]


def test_one_run_that_cannot_be_ended_does_not_keep_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    requests = [dead_run(tries=3), dead_run(tries=3)]
    first = requests[0].runs.get().pk
    Run.objects.filter(pk=first).update(lease_until=ago(100))

    def stumbles(run_id: uuid.UUID, *rest: Any) -> bool:
        if run_id == first:
            raise RuntimeError("broken")
        return give_up(run_id, *rest)

    monkeypatch.setattr("agent.sweep.give_up", stumbles)
    assert take_from_the_dead() == 1
    assert sorted(RefundRequest.objects.values_list("status", flat=True)) == ["needs_approval", "working"]


def test_due_runs_are_announced_at_most_once_a_minute(
    rung: list[uuid.UUID], django_capture_on_commit_callbacks: Any
) -> None:
    unheard = RunFactory(announced_at=ago(61))
    never = RunFactory(announced_at=None)
    RunFactory(announced_at=ago(59))
    RunFactory(announced_at=None, due_at=timezone.now() + timedelta(minutes=1))
    Run.objects.filter(trigger="request", key__regex=r"^req:\d+$").delete()
    for expected in ({unheard.pk, never.pk}, set()):
        rung.clear()
        with django_capture_on_commit_callbacks(execute=True):
            announce_due_runs()
        assert set(rung) == expected


def test_batches_are_bounded(rung: list[uuid.UUID], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.sweep.BATCH", 2)
    for _ in range(3):
        RunFactory(announced_at=None)
    Run.objects.filter(key__regex=r"^req:\d+$").delete()
    assert [announce_due_runs(), announce_due_runs()] == [2, 1]


def test_a_request_in_work_without_a_run_comes_to_staff() -> None:
    request = RequestFactory(status="working", status_changed_at=ago(600))
    Run.objects.all().delete()
    assert rescue_stranded_requests() == 1
    assert work_off(request).status == "needs_approval"
    assert open_card(request).recommendation == "manual_review"


@pytest.mark.parametrize("why", ["fresh", "queued", "resting"])
def test_a_request_that_is_looked_after_is_left_alone(why: str) -> None:
    request = RequestFactory(
        status="needs_customer" if why == "resting" else "working",
        status_changed_at=timezone.now() if why == "fresh" else ago(600),
    )
    if why != "queued":
        Run.objects.all().delete()
    assert rescue_stranded_requests() == 0
    request.refresh_from_db()
    assert request.status != "needs_approval"


def test_the_beats_task_does_all_three(rung: list[uuid.UUID]) -> None:
    dead = dead_run()
    stranded = RequestFactory(status="working", status_changed_at=ago(600))
    stranded.runs.all().delete()
    sweep_runs()
    stranded.refresh_from_db()
    assert (dead.runs.get().status, stranded.status) == ("queued", "needs_approval")
