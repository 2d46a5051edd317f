"""A new request and a customer's answer: what a review comes to is carried through to where the request rests."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from agent.models import Approval, Run
from agent.outcomes import Point
from agent.tasks import work
from intake.lifecycle import move
from intake.models import Question, RefundRequest, Reply
from intake.rules import Verdict
from intake.statuses import Status
from payments.models import Refund, RefundOutcome
from tests.agent.conftest import FakeReview
from tests.agent.work_off import open_card, titles, told, work_off
from tests.factories import ApprovalFactory, ChargeFactory, LineFactory, RequestFactory
from tests.fake_bank import FakeBank

pytestmark = pytest.mark.django_db


def paid_at(bank: FakeBank, *answers: str) -> RefundRequest:
    bank.answers = list(answers)
    line = LineFactory()
    ChargeFactory(order=line.order, captured_minor=line.paid_minor, provider="bank")
    return RequestFactory(line=line)


def answered(maya: User) -> RefundRequest:
    """Staff asked, the customer answered: the request is in work again and its reply has a run."""
    request = RequestFactory(status="needs_customer")
    ApprovalFactory(request=request, closed_at=timezone.now())
    request.runs.all().delete()
    reply_by = timezone.now() + timedelta(days=14)
    question = Question.objects.create(request=request, text="Batteries?", asked_by=maya, reply_by=reply_by)
    Reply.objects.create(question=question, message="New ones.", source="page")
    move(request.pk, Status.WORKING)
    return request


def test_a_small_clear_case_is_refunded_in_its_first_run(fake_review: FakeReview) -> None:
    request = work_off(RequestFactory())
    refund = Refund.objects.get()
    assert (request.status, refund.status, refund.amount_minor) == ("refunded", "succeeded", 3400)
    assert fake_review.seen == [True]
    assert told(request) == ["refunded"]
    step = request.steps.get(for_customer=True)
    assert step.title == "We have refunded $34.00 to your Visa ending 4242"
    assert refund.reference in step.detail
    run = Run.objects.get()
    assert (run.status, run.result) == ("done", "refund succeeded")
    assert RefundOutcome.objects.get().source == "run"


def test_a_case_above_the_limit_comes_to_staff_with_the_failed_rule_first(fake_review: FakeReview) -> None:
    request = work_off(RequestFactory(line__unit_price_minor=12_900))
    card = open_card(request)
    assert (request.status, card.recommendation, card.amount_minor) == ("needs_approval", "refund", 12_900)
    sentence = "$129.00 is above the $50.00 limit for automatic refunds."
    assert card.failed_rules == [{"rule": "limit", "sentence": sentence}]
    assert card.concerns == [{"text": sentence, "step": None, "source": "rule"}]
    assert told(request) == ["person_is_looking"]
    assert not Refund.objects.exists()


def test_the_models_points_are_cut_and_the_rules_stay(fake_review: FakeReview) -> None:
    points = tuple(Point(text="x" * 300, step=2) for _ in range(7))
    rule = Verdict(rule="photo", inputs={}, outcome="ask", sentence="Unclear photo.")
    hidden = Verdict(rule="first_review", inputs={}, outcome="ask", sentence="Staff are in.")
    fake_review.hands_over("refund", findings=points, concerns=points, failed_rules=(hidden, rule))
    card = open_card(work_off(RequestFactory()))
    assert [len(finding["text"]) for finding in card.findings] == [240] * 5
    assert [concern["source"] for concern in card.concerns] == ["rule", *["model"] * 5]
    assert [failed["rule"] for failed in card.failed_rules] == ["photo"]


@pytest.mark.parametrize(("recommendation", "back"), [("refund_after_return", True), ("refund", False)])
def test_only_a_refund_after_return_asks_for_the_item(fake_review: FakeReview, recommendation: str, back: bool) -> None:
    fake_review.hands_over(recommendation)
    assert open_card(work_off(RequestFactory())).require_return is back


def test_an_answer_is_reviewed_without_the_right_to_refund(fake_review: FakeReview, maya: User) -> None:
    fake_review.hands_over("refund")
    request = work_off(answered(maya))
    assert (request.status, fake_review.seen) == ("needs_approval", [False])
    assert Approval.objects.filter(request=request).count() == 2


def test_a_pending_refund_is_told_as_on_its_way_and_finished_by_news(fake_review: FakeReview, bank: FakeBank) -> None:
    request = work_off(paid_at(bank, "pending"))
    assert (request.status, told(request)) == ("refunding", ["on_its_way"])
    assert Run.objects.get().status == "done"


def test_a_refused_refund_comes_to_staff_with_the_banks_reason(fake_review: FakeReview, bank: FakeBank) -> None:
    request = work_off(paid_at(bank, "failed: card expired"))
    card = open_card(request)
    assert (request.status, card.recommendation) == ("needs_approval", "manual_review")
    assert card.concerns[0]["text"] == "The bank refused the refund of $34.00: card expired."
    assert told(request) == ["refund_did_not_go_through"]
    assert len(bank.asked) == 1


def test_a_killed_review_starts_over_and_its_running_step_is_ended(fake_review: FakeReview) -> None:
    request = RequestFactory()
    fake_review.dies()
    run = Run.objects.get()
    with pytest.raises(KeyboardInterrupt):
        work(str(run.pk))
    Run.objects.update(status="queued", token=None, lease_until=None)
    fake_review.hands_over("refund")
    work_off(request)
    assert request.steps.get(title="Inspecting the photo").state == "failed"
    assert Run.objects.get().tries == 2
    assert told(request) == ["person_is_looking"]


def test_p02_a_run_killed_after_the_bank_paid_is_finished_by_the_refund_it_reserved(
    fake_review: FakeReview, bank: FakeBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = paid_at(bank, "time-out, but done")

    def killed(*args: object, **given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("agent.finish_refund.apply_refund", killed)
        with pytest.raises(KeyboardInterrupt):
            work(str(Run.objects.get().pk))
    request.refresh_from_db()
    assert request.status == "refunding"
    Run.objects.update(status="queued", token=None, lease_until=None)
    assert work_off(request).status == "refunded"
    assert (len(bank.asked), fake_review.seen) == (1, [True])
    assert told(request) == ["refunded"]
    assert Refund.objects.count() == 1


def test_a_try_that_fails_is_given_back_and_the_last_one_brings_a_person(fake_review: FakeReview) -> None:
    request, run = RequestFactory(), Run.objects.get()

    def broken(lease: object) -> None:
        raise RuntimeError("secret address of a server")

    fake_review.result = broken  # type: ignore[assignment]
    for tries in (1, 2):
        work(str(run.pk))
        run.refresh_from_db()
        assert (run.status, run.tries) == ("queued", tries)
    work(str(run.pk))
    run.refresh_from_db()
    request.refresh_from_db()
    assert (run.status, request.status) == ("failed", "needs_approval")
    assert open_card(request).recommendation == "manual_review"
    assert titles(request) == ["Taken up again, try 2", "Taken up again, try 3", "The agent could not finish"]
    assert told(request) == ["person_is_looking"]
    assert "secret" not in run.result


def test_a_run_whose_request_moved_on_does_nothing(fake_review: FakeReview) -> None:
    request = RequestFactory(status="needs_approval")
    assert work_off(request).status == "needs_approval"
    assert (fake_review.seen, request.rev, Run.objects.get().result) == ([], 0, "nothing left to do")
