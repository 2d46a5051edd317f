"""One run, one worker: the claim, the lease that fences every write, and the way back into the queue."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from agent.lease import Lease, LeaseLost
from agent.models import Run
from agent.runs import claim, give_back, last_transaction
from intake.models import Question, RefundRequest, Reply, Return
from tests.factories import RequestFactory, RunFactory

pytestmark = pytest.mark.django_db


def first_claim(request: RefundRequest) -> Lease:
    lease = claim(request.runs.get().pk)
    assert lease is not None
    return lease


def late_run(maya: User, status: str = "needs_customer") -> tuple[Run, Question]:
    request = RequestFactory(status=status)
    Run.objects.all().delete()
    question = Question.objects.create(request=request, text="Why?", asked_by=maya, reply_by=timezone.now())
    return Run.objects.get(), question


def check_run(status: str = "awaiting_return") -> tuple[Run, Return]:
    request, now = RequestFactory(status=status), timezone.now()
    Run.objects.all().delete()
    parcel = Return.objects.create(request=request, code="RMA-ABCDEF", amount_minor=3400, ship_by=now, check_at=now)
    return Run.objects.get(), parcel


def test_a_claim_takes_a_due_run_and_sets_its_request_to_work() -> None:
    request = RequestFactory(policy__number=7)
    lease = first_claim(request)
    run, now = Run.objects.select_related("request").get(), timezone.now()
    assert (run.status, run.token, run.tries, run.moved_request) == ("running", lease.token, 1, True)
    assert (run.request.status, run.policy_number) == ("working", 7)
    assert now < (run.lease_until or now) <= now + timedelta(seconds=60)


def test_a_run_is_claimed_once() -> None:
    request = RequestFactory()
    first_claim(request)
    assert claim(request.runs.get().pk) is None
    assert request.runs.get().tries == 1


def test_a_run_that_is_not_due_is_not_there() -> None:
    run = RunFactory(due_at=timezone.now() + timedelta(seconds=30))
    assert claim(run.pk) is None
    assert claim(uuid.uuid4()) is None


def test_a_second_run_of_a_request_waits_in_the_queue() -> None:
    request = RequestFactory()
    first_claim(request)
    second = RunFactory(request=request, trigger="reply")
    assert claim(second.pk) is None
    second.refresh_from_db()
    assert (second.status, second.tries, second.token) == ("queued", 0, None)


def test_the_runs_of_a_request_are_taken_in_the_order_they_are_due() -> None:
    request = RequestFactory()
    first = request.runs.get()
    second = RunFactory(request=request, trigger="reply", due_at=first.due_at + timedelta(seconds=1))
    Run.objects.filter(pk=second.pk).update(due_at=first.due_at + timedelta(microseconds=1))
    assert claim(second.pk) is None
    assert claim(first.pk) is not None


def test_a_reply_run_leaves_the_request_as_it_is() -> None:
    request = RequestFactory(status="working")
    Run.objects.all().delete()
    run = RunFactory(request=request, trigger="reply")
    assert claim(run.pk) is not None
    run.refresh_from_db()
    assert run.moved_request is False


def test_a_late_run_moves_a_request_whose_question_is_open(maya: User) -> None:
    run, _ = late_run(maya)
    assert claim(run.pk) is not None
    run.refresh_from_db()
    assert (run.moved_request, run.request.status) == (True, "working")


@pytest.mark.parametrize("why", ["answered", "withdrawn", "moved on"])
def test_a_late_run_moves_nothing_when_nobody_waits_for_the_answer(maya: User, why: str) -> None:
    run, question = late_run(maya, status="needs_approval" if why == "moved on" else "needs_customer")
    if why == "answered":
        Reply.objects.create(question=question, message="Yes", source="page")
        Run.objects.filter(trigger="reply").delete()
    if why == "withdrawn":
        Question.objects.update(withdrawn_at=timezone.now())
    before = RefundRequest.objects.get().status
    assert claim(run.pk) is not None
    run.refresh_from_db()
    assert (run.moved_request, run.request.status) == (False, before)


@pytest.mark.parametrize(("status", "moves"), [("waiting", True), ("received", False), ("withdrawn", False)])
def test_a_check_moves_only_a_request_whose_parcel_is_awaited(status: str, moves: bool) -> None:
    run, _ = check_run()
    Return.objects.update(status=status)
    assert claim(run.pk) is not None
    run.refresh_from_db()
    assert (run.moved_request, run.request.status) == (moves, "working" if moves else "awaiting_return")


def test_a_resumed_run_remembers_that_it_moved_the_request() -> None:
    request = RequestFactory()
    assert give_back(first_claim(request))
    lease = first_claim(request)
    run = Run.objects.get(pk=lease.run_id)
    assert (run.moved_request, run.tries, run.token) == (True, 2, lease.token)


def test_whoever_lost_the_lease_writes_nothing() -> None:
    request = RequestFactory()
    lost = first_claim(request)
    give_back(lost)
    first_claim(request)
    with pytest.raises(LeaseLost), lost.fenced():
        RefundRequest.objects.update(status="declined")
    with pytest.raises(LeaseLost), last_transaction(lost, "over"):
        RefundRequest.objects.update(status="declined")
    request.refresh_from_db()
    assert (request.status, request.runs.get().status) == ("working", "running")


def test_a_lease_never_reaches_past_the_time_of_a_run() -> None:
    request = RequestFactory()
    lease = first_claim(request)
    old = replace(lease, started_at=timezone.now() - timedelta(seconds=280))
    old.renew()
    until = request.runs.get().lease_until
    assert until is not None
    assert until <= old.last_moment
    over = replace(lease, started_at=timezone.now() - timedelta(seconds=301))
    with pytest.raises(LeaseLost):
        over.renew()


def test_the_last_transaction_ends_the_run_with_its_work_or_not_at_all() -> None:
    request = RequestFactory()
    lease = first_claim(request)

    class Stumble(Exception):
        pass

    with pytest.raises(Stumble), last_transaction(lease, "over"):
        raise Stumble
    assert request.runs.get().status == "running"
    with last_transaction(lease, "over"):
        pass
    run = request.runs.get()
    assert (run.status, run.result, run.token, run.lease_until) == ("done", "over", None, None)
    assert run.ended_at is not None


def test_a_run_without_tries_left_is_not_queued_again() -> None:
    request = RequestFactory()
    lease = first_claim(request)
    Run.objects.update(tries=3)
    assert not give_back(lease)
    assert request.runs.get().status == "running"
