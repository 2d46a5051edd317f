from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from intake.models import Photo, Question, RefundRequest, Reply, Step
from intake.refusals import Refusal
from intake.submit_reply import submit_reply
from payments.models import OrderLine
from tests.factories import RequestFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked(kettle: OrderLine, daniel: User) -> Question:
    request = RequestFactory(line=kettle, status="needs_customer")
    until = timezone.now() + timedelta(days=14)
    return Question.objects.create(request=request, text="Does it stand level?", asked_by=daniel, reply_by=until)


def answer(question: Question, **changes: Any) -> Reply:
    given: dict[str, Any] = {
        "customer": question.request.customer,
        "request_uuid": question.request.uuid,
        "message": "No, it tips over.",
        "source": "page",
    }
    return submit_reply(**(given | changes))


def refused(question: Question, **changes: Any) -> Refusal:
    status = question.request.status
    with pytest.raises(Refusal) as raised:
        answer(question, **changes)
    question.request.refresh_from_db()
    assert (question.request.status, Step.objects.count()) == (status, 0)
    return raised.value


def test_an_answer_is_kept_told_and_puts_the_request_to_work(asked: Question) -> None:
    reply = answer(asked)
    asked.request.refresh_from_db()
    step = Step.objects.get()
    assert (reply.question, reply.message, reply.source) == (asked, "No, it tips over.", "page")
    assert asked.request.status == "working"
    assert (step.title, step.detail, step.for_customer) == ("You answered", "No, it tips over.", True)


def test_photos_come_with_an_answer(asked: Question, new_photo: Callable[[User], Photo]) -> None:
    photo = new_photo(asked.request.customer)
    assert list(answer(asked, photo_ids=[photo.pk]).photos.all()) == [photo]


def test_someone_else_is_answered_like_a_missing_request(asked: Question, aiko: User) -> None:
    theirs = refused(asked, customer=aiko)
    missing = refused(asked, request_uuid=uuid.uuid4())
    assert theirs.as_json() == missing.as_json() == refused(asked, request_uuid="1010").as_json()
    assert theirs.code == "request_not_found"


@pytest.mark.parametrize("message", ["", "  \n ", "x" * 2001])
def test_an_answer_that_says_nothing_or_too_much_is_refused(asked: Question, message: str) -> None:
    refusal = refused(asked, message=message)
    assert (refusal.code, refusal.field) == ("invalid_input", "message")


def test_a_photo_that_is_not_theirs_undoes_the_answer(
    asked: Question, aiko: User, new_photo: Callable[[User], Photo]
) -> None:
    assert refused(asked, photo_ids=[new_photo(aiko).pk]).code == "photo_not_found"
    assert not Reply.objects.exists()


def test_a_question_is_answered_once(asked: Question) -> None:
    answer(asked)
    with pytest.raises(Refusal) as raised:
        answer(asked, message="One more thing.")
    assert raised.value.code == "not_waiting_for_reply"
    assert Reply.objects.count() == 1


def test_a_withdrawn_question_takes_no_answer(asked: Question) -> None:
    Question.objects.update(withdrawn_at=timezone.now())
    assert refused(asked).code == "not_waiting_for_reply"


@pytest.mark.parametrize("status", ["submitted", "working", "needs_approval", "awaiting_return", "declined"])
def test_a_request_that_does_not_wait_takes_no_answer(asked: Question, status: str) -> None:
    RefundRequest.objects.update(status=status)
    asked.request.refresh_from_db()
    assert refused(asked).code == "not_waiting_for_reply"
    assert not Reply.objects.exists()
