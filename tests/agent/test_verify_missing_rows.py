"""Rows that were put into a case or taken out of it behind the code are named."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from agent.decide import decide
from intake.models import Question, Receipt, RefundRequest, Reply, Step
from intake.record_receipt import record_receipt
from intake.submit_reply import submit_reply
from tests.agent.book_cases import before_staff
from tests.agent.falsify import named, sql
from tests.agent.talked_cases import SAID, asked
from tests.agent.work_off import open_card, work_off
from tests.behind_the_book import behind_the_book
from tests.factories import ApprovalFactory, StaffFactory

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("own_photo_folder", "fake_review", "worded_decline", "rung"),
]


def test_a_question_nobody_decided_is_named(maya: User) -> None:
    request = asked(maya)
    Question.objects.create(request=request, text="What is your PIN?", asked_by=maya, reply_by=timezone.now())
    assert named(request) == "A question to the customer has no decision behind it."


def test_a_question_that_was_taken_out_is_named(maya: User) -> None:
    request = asked(maya)
    sql("DELETE FROM intake_question")
    assert named(request) == "The question of link 1 is not in the book."


def test_an_answer_the_customer_did_not_give_is_named(maya: User) -> None:
    request = asked(maya)
    behind_the_book(Reply).bulk_create([Reply(question=request.questions.get(), message="Yes.", source="page")])
    assert named(request) == "An answer of the customer is not in the timeline."


def test_an_answer_that_was_taken_out_is_named(maya: User) -> None:
    request = asked(maya)
    submit_reply(customer=request.customer, request_uuid=request.uuid, message=SAID, source="page")
    assert named(request) == ""
    sql("DELETE FROM intake_reply")
    step = Step.objects.get(title="You answered")
    assert named(request) == f"The answer that step {step.position} of the timeline tells is not in the book."


def test_a_card_that_was_taken_out_is_named(maya: User) -> None:
    request = before_staff()
    ApprovalFactory(request=request, closed_at=timezone.now(), reasoning="Nobody decided this one.")
    decide(approval_id=open_card(request).pk, by=maya, choice="decline", note="No.", source="desk")
    sql("DELETE FROM agent_approval WHERE reasoning = 'Nobody decided this one.'")
    assert named(request) == "A card of link 1 is not in the book any more."


@pytest.fixture
def sent(maya: User) -> RefundRequest:
    """It waits for a parcel."""
    request = before_staff()
    decide(approval_id=open_card(request).pk, by=maya, choice="approve", require_return=True, source="desk")
    assert work_off(request).status == "awaiting_return"
    assert named(request) == ""
    return request


def test_a_return_that_stands_as_received_without_a_parcel_is_named(sent: RefundRequest) -> None:
    sql("UPDATE intake_return SET status = 'received'")
    code = sent.returns.get().code
    assert named(sent) == f"The return {code} stands as “Received”, and no parcel was recorded."


def test_a_parcel_nobody_recorded_is_named(sent: RefundRequest, maya: User) -> None:
    behind_the_book(Receipt).bulk_create([Receipt(parcel=sent.returns.get(), units=1, recorded_by=maya, source="page")])
    assert named(sent) == "A parcel that came is not in the timeline."


def test_a_parcel_that_another_person_recorded_is_named(sent: RefundRequest, maya: User) -> None:
    record_receipt(request_uuid=sent.uuid, by=maya, source="page")
    assert named(sent) == ""
    sql("UPDATE intake_receipt SET recorded_by_id = %s", StaffFactory().pk)
    step = Step.objects.get(title="Your parcel arrived")
    sentence = f"A parcel was recorded by another person than step {step.position} of the timeline tells."
    assert named(sent) == sentence
    sql("DELETE FROM intake_receipt")
    assert named(sent) == f"The parcel that step {step.position} of the timeline tells is not in the book."
