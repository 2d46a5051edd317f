"""Where a request stands fits its newest refund, its decision was carried out, and each day's sum is what was paid."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from agent.decide import decide
from agent.handover import add_concern
from agent.link_facts import decision_facts
from agent.models import Approval, BudgetDay, ChainRecord, Run
from agent.verify.budget import check_budgets
from agent.verify.pages import read_pages
from agent.verify.shop import verify_shop
from agent.verify.standing import check_standing
from intake.models import RefundRequest
from payments.models import Refund
from payments.settle_refund import record_outcome
from tests.agent.book_cases import before_staff, declined, paid_automatically, paid_by_decision, refund_of
from tests.agent.falsify import named, rewritten, sql
from tests.agent.work_off import open_card, work_off
from tests.behind_the_book import behind_the_book
from tests.factories import RequestFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_photo_folder", "rung", "worded_decline")]


def long_settled(request: RefundRequest) -> RefundRequest:
    """The answer of the provider is old, in the row and in its link alike."""
    long_ago = timezone.now() - timedelta(hours=1)
    outcome = request.chain.get(kind="outcome")
    behind_the_book(Refund).filter(request_uuid=request.uuid).update(settled_at=long_ago)
    sql("UPDATE payments_refundoutcome SET created_at = %s", long_ago)
    rewritten(outcome, lambda facts: facts["outcome"].update(at=long_ago.isoformat()))
    assert named(request) == ""
    return request


@pytest.mark.parametrize(
    ("status", "stands"),
    [
        ("declined", "Declined"),
        ("closed", "Closed"),
        ("awaiting_return", "Awaiting return"),
        ("submitted", "Submitted"),
    ],
)
def test_a_request_that_stands_elsewhere_than_its_money_is_named_at_once(maya: User, status: str, stands: str) -> None:
    request = paid_by_decision(maya)
    sql("UPDATE intake_refundrequest SET status = %s", status)
    reference = refund_of(request).reference
    assert named(request) == f"The request stands as “{stands}”, and its refund {reference} as “Refunded”."
    assert not verify_shop().fits


@pytest.mark.parametrize("status", ["refunding", "needs_approval", "working"])
def test_a_request_has_ten_minutes_to_hear_of_its_refund(maya: User, status: str) -> None:
    request = paid_by_decision(maya)
    sql("UPDATE intake_refundrequest SET status = %s", status)
    assert list(check_standing(read_pages([request.pk])[0])) == []
    sql("UPDATE intake_refundrequest SET status = 'refunded'")
    long_settled(request)
    sql("UPDATE intake_refundrequest SET status = %s", status)
    assert named(request).endswith(f"and its refund {refund_of(request).reference} as “Refunded”.")


def test_however_long_its_run_waits_for_a_worker(maya: User) -> None:
    request = long_settled(paid_by_decision(maya))
    run = Run.objects.get(request=request, trigger="decision")
    sql("UPDATE intake_refundrequest SET status = 'refunding'")
    Run.objects.filter(pk=run.pk).update(status="queued")
    assert named(request) == ""
    Run.objects.filter(pk=run.pk).update(status="done")
    assert "“Refund on its way”" in named(request)


def test_a_request_that_waits_for_money_nobody_reserved_is_named() -> None:
    request = RequestFactory(status="refunding")
    assert named(request) == "The request stands as “Refund on its way”, and it has no refund."


def test_after_a_late_failure_staff_have_it_and_may_decline(maya: User) -> None:
    request = paid_by_decision(maya)
    refund = refund_of(request)
    record_outcome(refund.pk, status="failed", reason="closed", provider_reference="", source="webhook")
    assert (request.status, named(request)) == ("refunded", "")
    assert work_off(request).status == "needs_approval"
    assert named(request) == ""
    decide(approval_id=open_card(request).pk, by=maya, choice="decline", note="No.", source="desk")
    assert named(request) == ""
    assert work_off(request).status == "declined"
    assert verify_shop().fits


@pytest.mark.parametrize("choice", ["ask_customer", "decline"])
def test_a_question_or_decline_that_nobody_carried_out_is_named(maya: User, choice: str) -> None:
    request = before_staff()
    decide(approval_id=open_card(request).pk, by=maya, choice=choice, note="Why?", source="desk")
    assert named(request) == ""
    work_off(request)
    assert named(request) == ""
    sql("UPDATE agent_decision SET carried_out_at = NULL")
    assert named(request) == "The decision of link 1 was neither carried out nor set aside, and no run is at it."


CHANGES_OF_A_CARD = [
    "amount_minor = 1",
    "require_return = NOT require_return",
    'findings = \'[{"text": "Fine.", "step": null, "source": "model"}]\'',
    'concerns = \'[{"text": "Odd.", "step": null, "source": "code"}]\'',
    "reasoning = 'Because.'",
    'counter_case = \'{"text": "No.", "step": null, "source": "model"}\'',
    "would_change = 'A photo.'",
    "draft_question = 'Why?'",
]


@pytest.mark.parametrize("change", CHANGES_OF_A_CARD)
def test_a_decided_card_that_says_something_else_is_named(maya: User, change: str) -> None:
    request = declined(maya)
    assert named(request) == ""
    sql(f"UPDATE agent_approval SET {change}")
    sentence = "its text or amount is another one than the chain says"
    assert named(request) == f"The card of the decision of link 1 is not as it was: {sentence}."


def test_a_concern_that_came_while_the_card_was_read_is_sealed_with_it(maya: User) -> None:
    request = before_staff()
    decision = decide(approval_id=open_card(request).pk, by=maya, choice="decline", note="No.", source="desk")
    assert Approval.objects.get() is not decision.approval
    decision.approval.concerns = [{"text": "Stale.", "step": None, "source": "code"}]
    assert decision_facts(decision)["card"] == request.chain.get().facts["card"]
    assert not add_concern(request.pk, "Too late.")
    assert named(request) == ""


def test_a_link_from_before_the_card_was_sealed_fits(maya: User) -> None:
    request = declined(maya)

    def as_it_was(facts: dict[str, Any]) -> None:
        del facts["card"]["said_sha256"], facts["rows"]

    rewritten(request.chain.get(), as_it_was)
    sql("UPDATE agent_approval SET reasoning = 'Because.'")
    assert named(request) == ""
    sql("UPDATE agent_approval SET recommendation = 'decline'")
    assert "its recommendation is decline" in named(request)


@pytest.mark.parametrize("spent", [0, 3399, 3401, 50_000])
def test_a_days_sum_that_is_not_what_was_paid_is_named(spent: int) -> None:
    request = paid_automatically()
    assert verify_shop().fits
    sql("UPDATE agent_budgetday SET spent_minor = %s", spent)
    [misfit] = verify_shop().misfits
    assert misfit.startswith(f"For {timezone.localdate()} ")
    assert misfit.endswith(" count as refunded automatically, and the refunds of that day come to $34.00.")
    sql("DELETE FROM agent_budgetday")
    assert verify_shop().misfits == [
        f"For {timezone.localdate()} $0.00 count as refunded automatically, and the refunds of that day come to $34.00."
    ]
    assert named(request) == ""


def test_a_refund_that_failed_still_counts_for_its_day(maya: User) -> None:
    request = paid_automatically()
    paid_by_decision(maya)
    refund = refund_of(request)
    record_outcome(refund.pk, status="failed", reason="closed", provider_reference="", source="webhook")
    assert BudgetDay.objects.get().spent_minor == 3400
    assert list(check_budgets()) == []


@pytest.mark.parametrize(("seconds", "fits"), [(299, True), (301, False)])
def test_a_refund_just_after_midnight_may_count_for_the_day_before(seconds: int, fits: bool, settings: Any) -> None:
    request = paid_automatically()
    link = request.chain.get(kind="reserve")
    today = timezone.localdate()
    midnight = datetime.combine(today, time(), ZoneInfo(settings.SHOP_TIME_ZONE))
    behind_the_book(ChainRecord).filter(pk=link.pk).update(created_at=midnight + timedelta(seconds=seconds))
    assert list(check_budgets()) == []
    BudgetDay.objects.update(day=today - timedelta(days=1))
    assert (list(check_budgets()) == []) is fits


def test_a_sum_that_is_read_amid_a_reservation_is_looked_at_again() -> None:
    """The links are read before it, and the sum of the day after it."""
    paid: list[RefundRequest] = []

    def pay_before_the_sum_is_read(execute: Any, statement: str, *rest: Any) -> Any:
        if not paid and statement.startswith("SELECT") and "agent_budgetday" in statement:
            paid.append(RefundRequest())
            paid[:] = [paid_automatically()]
        return execute(statement, *rest)

    with connection.execute_wrapper(pay_before_the_sum_is_read):
        assert list(check_budgets()) == []
    assert (len(paid), BudgetDay.objects.get().spent_minor) == (1, 3400)
