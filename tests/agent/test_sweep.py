"""The sweep: bells nobody heard, workers that died, and nothing that stays in work for ever."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from agent.finish_refund import leave_as_news
from agent.give_up import give_up
from agent.models import Run
from agent.runs import claim
from agent.sweep import (
    announce_due_runs,
    rescue_stranded_requests,
    sweep,
    take_from_the_dead,
    take_needless_cards_back,
    take_up_unheard_outcomes,
)
from agent.tasks import sweep_runs
from intake.models import RefundRequest
from payments.models import Charge, Refund
from payments.settle_refund import record_outcome
from tests.agent.work_off import open_card, titles, told, work_off
from tests.behind_the_book import behind_the_book
from tests.factories import ApprovalFactory, RefundFactory, RequestFactory, RunFactory

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


def test_a_run_that_is_due_another_day_looks_after_nobody() -> None:
    request = RequestFactory(status="working", status_changed_at=ago(600))
    Run.objects.update(trigger="check", due_at=timezone.now() + timedelta(days=7))
    assert rescue_stranded_requests() == 1
    request.refresh_from_db()
    assert request.status == "needs_approval"


def answered_by_a_dead_run(answer: str, *, status: str = "refunding", seconds_ago: float = 61) -> RefundRequest:
    """A request whose refund has its last word, written by a worker that had lost its run and died right after."""
    request = RequestFactory(status=status)
    Run.objects.filter(request=request).update(status="done")
    refund = RefundFactory(
        charge=Charge.objects.get(order=request.line.order),
        request_uuid=request.uuid,
        amount_minor=3400,
        status="succeeded" if status == "refunded" else "reserved",
    )
    record_outcome(refund.pk, status=answer, reason="account closed", provider_reference="", source="run")
    behind_the_book(Refund).filter(pk=refund.pk).update(settled_at=ago(seconds_ago))
    return request


@pytest.mark.parametrize(("answer", "ends"), [("succeeded", "refunded"), ("failed", "needs_approval")])
def test_the_last_word_on_a_refund_that_nobody_brought_home_becomes_news(answer: str, ends: str) -> None:
    request = answered_by_a_dead_run(answer)
    RunFactory(request=request, trigger="check", key="chk:next-week", due_at=timezone.now() + timedelta(days=7))
    sweep()
    run = Run.objects.get(request=request, trigger="outcome")
    assert (run.key, run.status) == (f"out:{Refund.objects.get().outcomes.get().pk}", "queued")
    sweep()
    assert Run.objects.filter(trigger="outcome").count() == 1
    assert work_off(request).status == ends
    assert told(request) == ["refunded" if answer == "succeeded" else "refund_did_not_go_through"]
    assert take_up_unheard_outcomes() == 0


def test_a_late_failure_that_nobody_brought_home_becomes_news() -> None:
    request = answered_by_a_dead_run("failed", status="refunded")
    assert take_up_unheard_outcomes() == 1
    assert work_off(request).status == "needs_approval"
    assert "account closed" in open_card(request).concerns[0]["text"]


@pytest.mark.parametrize("why", ["fresh", "running", "queued", "resting", "a newer attempt"])
def test_a_last_word_that_somebody_looks_after_is_left_alone(why: str) -> None:
    request = answered_by_a_dead_run("failed", seconds_ago=59 if why == "fresh" else 61)
    if why == "running":
        now = timezone.now()
        Run.objects.update(status="running", token=uuid.uuid4(), lease_until=now)
    if why == "queued":
        Run.objects.update(status="queued")
    if why == "resting":
        RefundRequest.objects.update(status="needs_approval")
    if why == "a newer attempt":
        RefundFactory(charge=Charge.objects.get(), request_uuid=request.uuid, key="second", attempt=2)
    assert take_up_unheard_outcomes() == 0
    assert not Run.objects.filter(trigger="outcome").exists()


def test_the_same_news_is_left_once() -> None:
    request = answered_by_a_dead_run("succeeded")
    refund = Refund.objects.get()
    assert [leave_as_news(request.pk, refund), leave_as_news(request.pk, refund)] == [True, False]
    assert Run.objects.filter(trigger="outcome").count() == 1


@pytest.mark.parametrize("was_told", [True, False])
def test_a_card_of_a_request_whose_refund_is_through_is_taken_back(was_told: bool) -> None:
    request = answered_by_a_dead_run("succeeded")
    behind_the_book(Refund).update(run_uuid=request.runs.get().pk)
    if was_told:
        sweep()
        work_off(request)
    card = ApprovalFactory(request=request)
    RefundRequest.objects.update(status="needs_approval")
    sweep()
    request.refresh_from_db()
    card.refresh_from_db()
    assert (request.status, told(request), card.closed_at is None) == ("refunded", ["refunded"], False)
    assert take_needless_cards_back() == 0


@pytest.mark.parametrize("status", ["reserved", "failed"])
def test_a_card_that_has_something_to_decide_stays(status: str) -> None:
    request = RequestFactory(status="needs_approval")
    Run.objects.all().delete()
    RefundFactory(
        charge=Charge.objects.get(),
        request_uuid=request.uuid,
        status=status,
        run_uuid=uuid.uuid4(),
        settled_at=ago(100),
    )
    card = ApprovalFactory(request=request)
    assert take_needless_cards_back() == 0
    card.refresh_from_db()
    assert card.closed_at is None


def test_the_beats_task_does_all_three(rung: list[uuid.UUID]) -> None:
    dead = dead_run()
    stranded = RequestFactory(status="working", status_changed_at=ago(600))
    stranded.runs.all().delete()
    sweep_runs()
    stranded.refresh_from_db()
    assert (dead.runs.get().status, stranded.status) == ("queued", "needs_approval")
