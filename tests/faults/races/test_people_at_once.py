"""People who act at the same moment: one act counts, everybody else is told."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from agent.decide import decide
from agent.models import Decision, Run
from agent.tasks import work
from intake.models import Receipt, Reply
from intake.record_receipt import record_receipt
from intake.submit_reply import submit_reply
from tests.faults.races.rows import due_run, open_card, with_question, with_return
from tests.faults.races.together import MANY, at_once, counted, drain, many, paid, stands, told, work_by_many

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgres,
    pytest.mark.faults,
    pytest.mark.usefixtures("no_stumbling"),
]
Staff = tuple[User, User]


def test_the_same_decision_by_two_people_is_one_decision_and_one_refund(staff: Staff) -> None:
    card = open_card()
    clicks = [
        lambda by=by: decide(approval_id=card.pk, by=by, choice="approve", source="desk") for by in staff * (MANY // 2)
    ]
    answers = at_once(*clicks)
    assert counted(answers) == {"Decision": 1, "already_decided": MANY - 1}
    work_by_many(due_run(card.request, "decision").pk)
    drain()
    assert (stands(card.request), paid(card.request), told(card.request)) == ("refunded", ["succeeded"], ["refunded"])


def test_of_opposite_decisions_one_counts_and_is_the_one_carried_out(staff: Staff) -> None:
    card = open_card()
    maya, daniel = staff
    approve = lambda: decide(approval_id=card.pk, by=maya, choice="approve", source="desk")  # noqa: E731
    decline = lambda: decide(approval_id=card.pk, by=daniel, choice="decline", note="No.", source="api")  # noqa: E731
    answers = at_once(*[approve, decline] * (MANY // 2))
    assert counted(answers) == {"Decision": 1, "already_decided": MANY - 1}
    decision = Decision.objects.get()
    assert {answer.extra["by"] for answer in answers if not isinstance(answer, Decision)} == {
        decision.decided_by.get_full_name()
    }
    work_by_many(due_run(card.request, "decision").pk)
    drain()
    expected = ("refunded", ["succeeded"]) if decision.choice == "approve" else ("declined", [])
    assert (stands(card.request), paid(card.request)) == expected


def test_an_answer_sent_many_times_is_one_answer(staff: Staff) -> None:
    request = with_question(staff[0])
    customer, uuid = request.customer, request.uuid
    answers = many(lambda: submit_reply(customer=customer, request_uuid=uuid, message="The small one.", source="api"))
    assert counted(answers) == {"Reply": 1, "not_waiting_for_reply": MANY - 1}
    assert Reply.objects.count() == Run.objects.filter(trigger="reply").count() == 1
    drain()
    assert (stands(request), told(request)) == ("needs_approval", ["person_is_looking"])


def test_an_answer_in_the_moment_nobody_waits_any_more_is_either_taken_or_refused(staff: Staff) -> None:
    request = with_question(staff[0], days_left=-1)
    customer, uuid, run_id = request.customer, request.uuid, str(due_run(request, "late").pk)
    answer = lambda: submit_reply(customer=customer, request_uuid=uuid, message="The small one.", source="api")  # noqa: E731
    answers = at_once(*[answer, lambda: work(run_id)] * (MANY // 2))
    drain()
    taken = counted(answers)["Reply"]
    refused = {"NoneType": MANY // 2, "not_waiting_for_reply": MANY // 2 - taken}
    assert counted(answers) == (refused | {"Reply": 1} if taken else refused)
    assert told(request) == (["person_is_looking"] if taken else ["no_answer_yet"])
    assert stands(request) == "needs_approval"
    assert request.approvals.count() == 1


@pytest.mark.parametrize("check", [1, 2])
@pytest.mark.parametrize("head_start", ["none", "check"])
def test_a_parcel_marked_received_while_its_check_is_due_is_paid_or_told_once(
    staff: Staff, check: int, head_start: str
) -> None:
    request = with_return(check=check, days_left=-1)
    run = due_run(request, "check")
    receive = lambda: record_receipt(request_uuid=request.uuid, by=staff[0], source="page")  # noqa: E731
    look = lambda: work(str(run.pk))  # noqa: E731
    acts = [look, receive] * (MANY // 2) if head_start == "none" else [look] * (MANY - 2) + [receive] * 2
    answers = at_once(*acts)
    assert counted(answers)["Receipt"] == Receipt.objects.count() == 1
    assert counted(answers)["not_waiting_for_return"] == acts.count(receive) - 1
    drain()
    run.refresh_from_db()
    assert (run.status, run.tries) == ("done", 1)
    closed_first = "closed" in told(request)
    expected = ("needs_approval", []) if closed_first else ("refunded", ["succeeded"])
    assert (stands(request), paid(request)) == expected
    assert told(request).count("return_reminder") <= 1
    later = timezone.now() + timedelta(days=30)
    Run.objects.filter(request=request, status="queued").update(due_at=timezone.now())
    drain()
    assert (stands(request), paid(request)) == expected
    assert not Run.objects.filter(request=request, status__in=["queued", "running"], due_at__lte=later).exists()
