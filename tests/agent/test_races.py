"""Two at the same moment: threads behind a barrier, each with its own connection. One wins, nothing is done twice."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from agent.decide import decide
from agent.lease import Lease, LeaseLost
from agent.models import BudgetDay, Decision, Run
from agent.outcomes import Blocked, PhotoEvidence, Reserved
from agent.pay import refund_automatically
from agent.runs import claim, give_back
from intake.models import RefundRequest
from intake.refusals import Refusal
from payments.issue_refund import NoChargeHolds, issue_refund
from payments.models import Charge, Refund, RefundOutcome
from payments.settle_refund import record_outcome
from tests.factories import (
    ApprovalFactory,
    ChargeFactory,
    CustomerFactory,
    LineFactory,
    OrderFactory,
    PolicyFactory,
    RefundFactory,
    RequestFactory,
    RunFactory,
    StaffFactory,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.faults]
CLEAR = PhotoEvidence(verdict="yes")


def at_once(*acts: Callable[[], Any]) -> list[Any]:
    """What each act gave or raised, all started at the same moment."""
    barrier, answers = threading.Barrier(len(acts)), [None] * len(acts)

    def play(place: int, act: Callable[[], Any]) -> None:
        try:
            barrier.wait(10)
            answers[place] = act()
        except Exception as error:
            answers[place] = error  # type: ignore[call-overload]
        finally:
            connection.close()

    threads = [threading.Thread(target=play, args=pair) for pair in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return answers


def count(answers: list[Any], kind: type) -> int:
    return sum(isinstance(answer, kind) for answer in answers)


def leases_on(*requests: RefundRequest) -> list[Lease]:
    leases = [claim(request.runs.get().pk) for request in requests]
    return [lease for lease in leases if lease is not None]


def test_m06_of_two_claims_on_the_last_money_exactly_one_is_paid() -> None:
    charge = ChargeFactory(captured_minor=4000)
    RefundFactory(charge=charge, amount_minor=2500, status="succeeded")

    def pay() -> Refund:
        with transaction.atomic():
            return issue_refund(
                order_id=charge.order_id,
                line_id=None,
                request_uuid=uuid.uuid4(),
                run_uuid=None,
                units=1,
                amount_minor=1500,
                currency="USD",
                automatic=False,
            )

    answers = at_once(pay, pay, pay)
    assert (count(answers, Refund), count(answers, NoChargeHolds)) == (1, 2)
    charge.refresh_from_db()
    assert charge.reserved_minor == 4000


def test_a_run_is_taken_by_one_worker_only() -> None:
    run_id = RequestFactory().runs.get().pk
    answers = at_once(*[lambda: claim(run_id)] * 4)
    assert (count(answers, Lease), answers.count(None)) == (1, 3)


def test_two_runs_of_a_request_never_run_side_by_side() -> None:
    request = RequestFactory()
    first = request.runs.get()
    second = RunFactory(request=request, trigger="reply", due_at=first.due_at)
    answers = at_once(lambda: claim(first.pk), lambda: claim(second.pk))
    assert count(answers, Lease) <= 1
    assert count(answers, Exception) == 0
    assert Run.objects.filter(status="running").count() == count(answers, Lease)


def test_two_small_cases_of_a_customer_at_once_give_one_automatic_refund() -> None:
    customer = CustomerFactory()
    PolicyFactory()
    cases = [RequestFactory(line=LineFactory(order=OrderFactory(customer=customer))) for _ in range(2)]
    answers = at_once(*[lambda lease=lease: refund_automatically(lease, CLEAR) for lease in leases_on(*cases)])
    assert (count(answers, Reserved), count(answers, Blocked)) == (1, 1)
    assert [verdict.rule for answer in answers if isinstance(answer, Blocked) for verdict in answer.failed] == [
        "history"
    ]
    assert Refund.objects.count() == 1


def test_the_budget_of_a_day_is_never_passed() -> None:
    PolicyFactory(daily_budget_minor=7000, number=3)
    cases = [RequestFactory(policy__number=3) for _ in range(4)]
    answers = at_once(*[lambda lease=lease: refund_automatically(lease, CLEAR) for lease in leases_on(*cases)])
    assert (count(answers, Reserved), count(answers, Blocked)) == (2, 2)
    assert BudgetDay.objects.get().spent_minor == 6800


def test_p12_two_clicks_and_the_api_at_once_are_one_decision() -> None:
    card = ApprovalFactory()
    people = [StaffFactory(), StaffFactory(first_name="Daniel", last_name="Reyes"), StaffFactory()]
    answers = at_once(
        *[lambda by=by: decide(approval_id=card.pk, by=by, choice="approve", source="desk") for by in people]
    )
    assert (count(answers, Decision), count(answers, Refusal)) == (1, 2)
    decision = Decision.objects.get()
    late = [answer for answer in answers if isinstance(answer, Refusal)]
    assert {refusal.code for refusal in late} == {"already_decided"}
    assert {refusal.extra["by"] for refusal in late} == {decision.decided_by.get_full_name()}
    assert Run.objects.filter(trigger="decision").count() == 1


def test_p03_the_same_news_three_times_at_once_is_one_outcome() -> None:
    request = RequestFactory(status="refunding")
    refund = RefundFactory(charge=Charge.objects.get(), request_uuid=request.uuid)

    def hear(status: str) -> Refund:
        return record_outcome(refund.pk, status=status, reason="", provider_reference="bank-1", source="webhook")

    answers = at_once(*[lambda: hear("failed")] * 3)
    assert count(answers, Refund) == 3
    assert (RefundOutcome.objects.count(), Run.objects.filter(trigger="outcome").count()) == (1, 1)
    assert Charge.objects.get().reserved_minor == 0


def test_a_worker_that_lost_its_run_cannot_pay_beside_the_one_that_has_it() -> None:
    request = RequestFactory()
    (old,) = leases_on(request)
    give_back(old)
    (new,) = leases_on(request)
    answers = at_once(lambda: refund_automatically(old, CLEAR), lambda: refund_automatically(new, CLEAR))
    assert (count(answers, Reserved), count(answers, LeaseLost)) == (1, 1)
    assert Refund.objects.count() == 1


def test_news_of_a_failure_and_a_new_reservation_never_wait_in_a_circle() -> None:
    charge = ChargeFactory(captured_minor=3000)
    refund = RefundFactory(charge=charge, amount_minor=1500)

    def fail() -> Refund:
        return record_outcome(refund.pk, status="failed", reason="", provider_reference="", source="webhook")

    def reserve() -> Refund:
        with transaction.atomic():
            return issue_refund(
                order_id=charge.order_id,
                line_id=None,
                request_uuid=uuid.uuid4(),
                run_uuid=None,
                units=1,
                amount_minor=1500,
                currency="USD",
                automatic=False,
            )

    assert count(at_once(fail, reserve, fail), Refund) == 3
    charge.refresh_from_db()
    assert charge.reserved_minor == 1500
