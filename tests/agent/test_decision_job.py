"""A decision is carried out once, by code, exactly as it was made."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from agent.decide import decide
from agent.models import Approval, Decision, Run
from agent.return_code import LETTERS, new_return_code
from agent.tasks import work
from agent.word_decline import template
from intake.models import Question, RefundRequest, Return
from intake.shop_clock import deadline
from payments.models import Charge, Refund
from tests.agent.work_off import open_card, titles, told, work_off
from tests.behind_the_book import behind_the_book
from tests.factories import ApprovalFactory, RefundFactory, RequestFactory
from tests.fake_bank import FakeBank

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_review", "worded_decline")]


@pytest.fixture
def card(db: None) -> Approval:
    request = RequestFactory(line__unit_price_minor=12_900, status="needs_approval")
    request.runs.all().delete()
    return ApprovalFactory(request=request, findings=[{"text": "A dent.", "step": 4, "source": "model"}])


def decided(card: Approval, by: User, choice: str, **given: Any) -> RefundRequest:
    decide(approval_id=card.pk, by=by, choice=choice, source="desk", **given)
    return work_off(card.request)


def test_an_approved_refund_is_paid_and_told(card: Approval, maya: User) -> None:
    request = decided(card, maya, "approve", amount_minor=10_000)
    refund = Refund.objects.get()
    assert (request.status, refund.amount_minor, refund.automatic) == ("refunded", 10_000, False)
    assert titles(request) == [
        "Maya Okafor approved a refund of $100.00",
        "Refund of $100.00 to Visa ending 4242 started",
        "Refunded $100.00 to Visa ending 4242",
    ]
    assert told(request) == ["refunded"]
    assert Decision.objects.get().carried_out_at is not None


def test_nothing_the_customer_reads_names_staff(card: Approval, maya: User) -> None:
    request = decided(card, maya, "decline", note="Not our item.")
    assert [step for step in request.steps.filter(for_customer=True) if "Maya" in step.title + step.detail] == []


def test_an_approval_with_return_opens_one_and_pays_nothing_yet(card: Approval, maya: User) -> None:
    before = timezone.now()
    request = decided(card, maya, "approve", require_return=True)
    parcel = Return.objects.get()
    assert (request.status, parcel.amount_minor, parcel.status) == ("awaiting_return", 12_900, "waiting")
    assert re.fullmatch(rf"RMA-[{LETTERS}]{{6}}", parcel.code)
    assert parcel.ship_by in {deadline(before, timedelta(days=7)), deadline(timezone.now(), timedelta(days=7))}
    assert parcel.check_at == parcel.ship_by
    assert Run.objects.get(trigger="check").due_at == parcel.check_at
    message = request.steps.get(message_key="return_code")
    assert parcel.code in message.title
    assert "1200 Harbor Way" in message.detail
    assert not Refund.objects.exists()


def test_codes_have_no_letters_that_are_read_for_another() -> None:
    assert not set(LETTERS) & set("IO01L")
    assert len({new_return_code() for _ in range(50)}) == 50


def test_a_question_is_asked_and_waited_for(card: Approval, maya: User) -> None:
    request = decided(card, maya, "ask_customer", note="Did you change the batteries?")
    question = Question.objects.get()
    assert (request.status, question.text, question.asked_by) == (
        "needs_customer",
        "Did you change the batteries?",
        maya,
    )
    assert request.steps.get(message_key="question").detail == question.text
    run = Run.objects.get(trigger="late")
    assert (run.due_at, run.status) == (question.reply_by, "queued")


def test_a_decline_is_worded_kindly_and_ends_the_request(card: Approval, maya: User) -> None:
    request = decided(card, maya, "decline", note="The window is over.")
    assert request.status == "declined"
    assert request.steps.get(message_key="declined").detail == "We are sorry. The window is over."
    assert not Refund.objects.exists()


def test_who_may_not_decide_any_more_has_not_decided(card: Approval, maya: User) -> None:
    decide(approval_id=card.pk, by=maya, choice="approve", source="desk")
    maya.user_permissions.clear()
    request = work_off(card.request)
    again = open_card(request)
    assert (request.status, again.recommendation, again.amount_minor) == ("needs_approval", "refund", 12_900)
    assert again.findings == card.findings
    assert "Maya Okafor may not decide" in again.concerns[0]["text"]
    assert "Set the decision aside" in titles(request)
    assert told(request) == []
    decision = Decision.objects.get()
    assert (decision.carried_out_at, decision.set_aside_at is not None) == (None, True)
    assert not Refund.objects.exists()


def test_who_left_the_shop_has_not_decided(card: Approval, maya: User) -> None:
    decide(approval_id=card.pk, by=maya, choice="decline", note="No.", source="desk")
    User.objects.filter(pk=maya.pk).update(is_active=False)
    assert work_off(card.request).status == "needs_approval"


def test_money_that_went_meanwhile_brings_the_request_back_with_the_reason(card: Approval, maya: User) -> None:
    decide(approval_id=card.pk, by=maya, choice="approve", source="desk")
    RefundFactory(charge=Charge.objects.get(), amount_minor=1000, status="succeeded")
    request = work_off(card.request)
    again = open_card(request)
    assert (request.status, again.recommendation) == ("needs_approval", "manual_review")
    assert "at most $119.00 is left" in again.concerns[0]["text"]
    assert Refund.objects.count() == 1
    assert Decision.objects.get().carried_out_at is not None


def test_a_refund_that_was_made_meanwhile_is_not_made_twice(card: Approval, maya: User) -> None:
    decide(approval_id=card.pk, by=maya, choice="approve", amount_minor=100, source="desk")
    RefundFactory(charge=Charge.objects.get(), request_uuid=card.request.uuid, amount_minor=100, status="succeeded")
    assert work_off(card.request).status == "needs_approval"
    assert "has a refund already" in open_card(card.request).concerns[0]["text"]
    assert Refund.objects.count() == 1


def test_a_decision_on_ones_own_request_is_set_aside(card: Approval, maya: User) -> None:
    decide(approval_id=card.pk, by=maya, choice="approve", source="desk")
    RefundRequest.objects.update(customer=maya)
    request = work_off(card.request)
    assert "may not decide a request of their own" in open_card(request).concerns[0]["text"]
    assert (request.status, Refund.objects.count()) == ("needs_approval", 0)


def test_the_team_reads_that_a_reason_was_left_out(card: Approval, maya: User, monkeypatch: Any) -> None:
    def without_reason(lease: Any, *, request_id: int, note: str) -> str:
        return template(card.request.line.name, note)

    monkeypatch.setattr("agent.jobs.decision.word_decline", without_reason)
    decide(approval_id=card.pk, by=maya, choice="decline", note="See https://intranet/7", source="desk")
    request = work_off(card.request)
    assert "The reason was left out" in request.steps.get(title="Declined the request").detail
    assert "intranet" not in request.steps.get(message_key="declined").detail


def test_a_decision_that_comes_too_late_is_set_aside(card: Approval, maya: User) -> None:
    decide(approval_id=card.pk, by=maya, choice="approve", source="desk")
    RefundRequest.objects.update(status="needs_approval")
    request = work_off(card.request)
    assert (request.status, Refund.objects.count()) == ("needs_approval", 0)
    assert Decision.objects.get().set_aside_at is not None


def test_after_a_failed_attempt_a_new_decision_pays_with_a_new_key(card: Approval, maya: User, bank: FakeBank) -> None:
    behind_the_book(Charge).update(provider="bank")
    bank.answers = ["failed: card expired", "succeeded"]
    request = decided(card, maya, "approve")
    assert request.status == "needs_approval"
    assert decided(open_card(request), maya, "approve").status == "refunded"
    assert [order.key for order in bank.asked] == [f"refund_{request.uuid}", f"refund_{request.uuid}_2"]
    assert Charge.objects.get().reserved_minor == 12_900


@pytest.mark.parametrize("choice", ["approve", "ask_customer", "decline"])
def test_a_decision_is_carried_out_once_however_often_its_run_runs(card: Approval, maya: User, choice: str) -> None:
    request = decided(card, maya, choice, note="Because.")
    stands, rev = request.status, request.rev
    run = Run.objects.get(trigger="decision")
    Run.objects.filter(pk=run.pk).update(status="queued", tries=1, due_at=timezone.now() - timedelta(days=1))
    work(str(run.pk))
    request.refresh_from_db()
    assert (request.status, request.rev) == (stands, rev)
    assert Refund.objects.count() == (choice == "approve")
    assert Question.objects.count() == (choice == "ask_customer")


def test_a_decision_run_killed_after_it_reserved_is_finished_by_its_refund(
    card: Approval, maya: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide(approval_id=card.pk, by=maya, choice="approve", source="desk")

    def killed(*args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("agent.finish_refund.settle_refund", killed)
        with pytest.raises(KeyboardInterrupt):
            work(str(Run.objects.get().pk))
    Run.objects.update(status="queued", token=None, lease_until=None)
    request = work_off(card.request)
    assert (request.status, Refund.objects.count(), told(request)) == ("refunded", 1, ["refunded"])
