from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from agent.models import Approval
from agent.take_back import take_back
from intake.models import Question, RefundRequest, Return
from intake.refusals import Refusal
from tests.agent.work_off import open_card, told, wait_for
from tests.factories import ApprovalFactory, RequestFactory, StaffFactory

pytestmark = pytest.mark.django_db
LATER = timedelta(days=7)


def waiting(status: str, maya: User) -> RefundRequest:
    request, at = RequestFactory(status=status), timezone.now() + LATER
    request.runs.all().delete()
    if status == "needs_customer":
        Question.objects.create(request=request, text="Why?", asked_by=maya, reply_by=at)
    if status == "awaiting_return":
        Return.objects.create(request=request, code="RMA-ABCDEF", amount_minor=3400, ship_by=at, check_at=at)
    return request


@pytest.mark.parametrize(("status", "trigger"), [("needs_customer", "late"), ("awaiting_return", "check")])
def test_a_waiting_request_comes_back_to_staff_for_good(status: str, trigger: str, maya: User) -> None:
    request = waiting(status, maya)
    ApprovalFactory(request=request, closed_at=timezone.now(), failed_rules=[{"rule": "limit", "sentence": "Much."}])
    card = take_back(request_uuid=request.uuid, by=maya)
    request.refresh_from_db()
    assert request.status == "needs_approval"
    assert (card.recommendation, card.amount_minor) == ("manual_review", 3400)
    assert card.failed_rules == [{"rule": "limit", "sentence": "Much."}]
    assert told(request) == ["taken_back"]
    assert wait_for(request, trigger).status == "needs_approval"
    assert open_card(request) == card


def test_the_question_and_the_return_are_withdrawn(maya: User) -> None:
    take_back(request_uuid=waiting("needs_customer", maya).uuid, by=maya)
    take_back(request_uuid=waiting("awaiting_return", maya).uuid, by=maya)
    assert Question.objects.get().withdrawn_at is not None
    assert Return.objects.get().status == "withdrawn"


@pytest.mark.parametrize("status", ["submitted", "working", "refunding", "needs_approval", "refunded", "closed"])
def test_what_does_not_wait_for_the_customer_stays_where_it_is(status: str, maya: User) -> None:
    request = waiting(status, maya)
    with pytest.raises(Refusal) as refused:
        take_back(request_uuid=request.uuid, by=maya)
    request.refresh_from_db()
    assert (refused.value.code, request.status, request.rev) == ("not_waiting", status, 0)
    assert not Approval.objects.exists()


@pytest.mark.parametrize("request_uuid", [uuid.uuid4(), "nothing"])
def test_a_request_that_does_not_exist(request_uuid: Any, maya: User) -> None:
    with pytest.raises(Refusal) as refused:
        take_back(request_uuid=request_uuid, by=maya)
    assert refused.value.code == "request_not_found"


def test_who_may_not_take_back_does_not(maya: User) -> None:
    request = waiting("needs_customer", maya)
    for person in (StaffFactory(permissions=["agent.add_decision"]), request.customer):
        with pytest.raises(Refusal) as refused:
            take_back(request_uuid=request.uuid, by=person)
        assert refused.value.code == "forbidden"
    request.refresh_from_db()
    assert request.status == "needs_customer"


def test_nobody_takes_their_own_request_back(maya: User) -> None:
    request = waiting("needs_customer", maya)
    RefundRequest.objects.update(customer=maya)
    with pytest.raises(Refusal) as refused:
        take_back(request_uuid=request.uuid, by=maya)
    request.refresh_from_db()
    assert (refused.value.code, refused.value.sentence) == (
        "forbidden",
        "Somebody else has to decide your own request.",
    )
    assert (request.status, Question.objects.get().withdrawn_at) == ("needs_customer", None)
