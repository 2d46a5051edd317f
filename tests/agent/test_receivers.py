from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from agent.models import Decision, Run
from intake.models import Question, Receipt, RefundRequest, Reply, Return
from payments.models import RefundOutcome
from payments.settle_refund import record_outcome
from tests.factories import ApprovalFactory, RefundFactory, RequestFactory, StaffFactory

pytestmark = pytest.mark.django_db


def newest_run(request: RefundRequest) -> Run:
    return Run.objects.filter(request=request).latest("created_at")


def question(request: RefundRequest) -> Question:
    reply_by = timezone.now() + timedelta(days=14)
    return Question.objects.create(request=request, text="Batteries?", asked_by=StaffFactory(), reply_by=reply_by)


def parcel(request: RefundRequest) -> Return:
    at = timezone.now() + timedelta(days=7)
    return Return.objects.create(request=request, code="RMA-ABCDEF", amount_minor=3400, ship_by=at, check_at=at)


def check(run: Run, trigger: str, key: str, source: Any, due_at: Any = None) -> None:
    assert (run.trigger, run.key, run.source_id, run.status) == (trigger, key, str(source.pk), "queued")
    if due_at is None:
        assert run.due_at <= timezone.now()
        assert run.announced_at is not None
    else:
        assert (run.due_at, run.announced_at) == (due_at, None)


def test_each_created_row_makes_its_one_run() -> None:
    request = RequestFactory()
    check(newest_run(request), "request", f"req:{request.pk}", request)
    card = ApprovalFactory(request=request)
    decision = Decision.objects.create(approval=card, choice="decline", decided_by=StaffFactory(), source="api")
    check(newest_run(request), "decision", f"dec:{card.pk}", decision)
    asked = question(request)
    check(newest_run(request), "late", f"late:{asked.pk}", asked, asked.reply_by)
    reply = Reply.objects.create(question=asked, message="Yes", source="page")
    check(newest_run(request), "reply", f"ans:{asked.pk}", reply)
    sent = parcel(request)
    check(newest_run(request), "check", f"chk:{sent.pk}:1", sent, sent.check_at)
    receipt = Receipt.objects.create(parcel=sent, units=1, recorded_by=StaffFactory(), source="page")
    check(newest_run(request), "receipt", f"rcv:{receipt.pk}", receipt)


@pytest.mark.parametrize("source", ["webhook", "beat", "import"])
def test_news_of_a_refund_that_no_run_waits_for_makes_a_run(source: str) -> None:
    request = RequestFactory()
    refund = RefundFactory(request_uuid=request.uuid)
    record_outcome(refund.pk, status="succeeded", reason="", provider_reference="", source=source)
    check(newest_run(request), "outcome", f"out:{RefundOutcome.objects.get().pk}", RefundOutcome.objects.get())


def test_an_answer_to_a_run_makes_none_and_neither_does_a_refund_without_a_request() -> None:
    request = RequestFactory()
    own = RefundFactory(request_uuid=request.uuid)
    foreign = RefundFactory(request_uuid=None, key="by-hand")
    record_outcome(own.pk, status="succeeded", reason="", provider_reference="", source="run")
    record_outcome(foreign.pk, status="succeeded", reason="", provider_reference="", source="webhook")
    assert list(Run.objects.values_list("trigger", flat=True)) == ["request"]


def test_a_changed_row_makes_no_run() -> None:
    request = RequestFactory()
    request.details = "More words"
    request.save()
    assert Run.objects.count() == 1


def test_a_run_is_announced_after_the_commit_and_a_later_one_is_not(
    rung: list[uuid.UUID], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        request = RequestFactory()
        assert rung == []
        parcel(request)
    assert rung == [Run.objects.get(trigger="request").pk]


@pytest.mark.django_db(transaction=True)
def test_t17_a_row_that_was_rolled_back_leaves_no_run_and_no_bell(rung: list[uuid.UUID]) -> None:
    with transaction.atomic():
        RequestFactory()
        transaction.set_rollback(True)
    assert (rung, Run.objects.count()) == ([], 0)
