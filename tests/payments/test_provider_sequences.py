"""The sequences of the field reports (tests/field/scenarios/provider_sequences.json), over a Stripe on this machine."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from agent.decide import decide
from agent.models import Decision, Run
from intake.models import RefundRequest
from intake.refusals import Refusal
from payments.balance import live_refunds_since
from payments.issue_refund import RefundInFlight, issue_refund
from payments.models import Charge, ProviderEvent, Refund, RefundOutcome
from payments.settle_in_flight import settle_due_refunds
from payments.settle_refund import settle_refund
from tests.agent.test_races import at_once
from tests.agent.work_off import open_card, told, work_off
from tests.factories import StaffFactory
from tests.payments import test_provider_cases_made_elsewhere
from tests.payments.desk_at_stripe import approve, page_of, refund_of, waiting_card
from tests.payments.scenarios import Case, after, how_many, how_often, numbers, quoted, untested
from tests.payments.stripe_rows import HOOK, deliver, outcomes, paid, reserved
from tests.processes import DeskPrograms, RedisServer, wait_until
from tests.stripe_book import CUT_OFF, CUT_OFF_BUT_DONE, IN_PROGRESS, SILENT_BUT_DONE, Stumble
from tests.stripe_server import SECRET_KEY, StripeServer


def test_no_sequence_of_the_file_is_left_out() -> None:
    assert untested("provider_sequences.json", globals(), vars(test_provider_cases_made_elsewhere)) == []


@pytest.mark.django_db
def test_p01_an_answer_after_our_time_out_is_one_refund_with_one_key(case: Case, stripe_server: StripeServer) -> None:
    stripe_server.stumbles.append(SILENT_BUT_DONE)
    refund = reserved(stripe_server)
    assert settle_refund(refund.pk, "run").status == "reserved"
    assert settle_refund(refund.pk, "beat").status == "succeeded"
    assert len(stripe_server.refunds) == how_many(case.expected, "provider refund")
    assert Refund.objects.count() == len(outcomes(refund)) == how_many(case.expected, "ledger entry")
    assert {asked.key for asked in stripe_server.posts} == {refund.key}


@pytest.mark.django_db
def test_p01_what_stripe_never_heard_of_is_asked_again_with_the_same_key_and_body(stripe_server: StripeServer) -> None:
    stripe_server.stumbles.append(CUT_OFF)
    refund = reserved(stripe_server)
    settle_refund(refund.pk, "run")
    assert settle_refund(refund.pk, "beat").status == "succeeded"
    first, second = stripe_server.posts
    assert (first.key, first.values) == (second.key, second.values)
    assert len(stripe_server.refunds) == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.worker
@pytest.mark.faults
@pytest.mark.timeout(180)
def test_p02_a_worker_killed_between_stripes_success_and_our_commit(
    case: Case, stripe_server: StripeServer, real_broker: RedisServer, programs: DeskPrograms
) -> None:
    env = {
        "STRIPE_API_BASE": stripe_server.url,
        "STRIPE_SECRET_KEY": SECRET_KEY,
        "RUN_LEASE_SECONDS": "13",
        "CALL_MAX_SECONDS": "12",
        "SWEEP_SECONDS": "2",
        "ANNOUNCE_AGAIN_SECONDS": "4",
    }
    stripe_server.stumbles.append(Stumble(seconds=60, first=True))
    worker = programs.worker(**env)
    card = waiting_card(stripe_server)
    decide(approval_id=card.pk, by=StaffFactory(), choice="approve", source="desk")
    wait_until(lambda: stripe_server.refunds, 20, "Stripe made the refund")
    worker.send(signal.SIGKILL)
    worker.process.wait()
    assert (refund_of(card.request).status, told(card.request)) == ("reserved", [])

    programs.worker(**env)
    programs.beat(**env)
    wait_until(lambda: RefundRequest.objects.filter(status="refunded").exists(), 90, "the request is refunded")
    wait_until(lambda: not Run.objects.filter(status__in=["queued", "running"]).exists(), 30, "no run is left")
    refund = refund_of(card.request)
    assert {asked.key for asked in stripe_server.posts} == {refund.key}
    entries = how_many(case.expected, "entry")
    assert (len(stripe_server.refunds), refund.status, len(outcomes(refund))) == (entries, "succeeded", entries)
    assert told(card.request) == ["refunded"] * how_often(case.expected, "told")
    assert Charge.objects.get().reserved_minor == 3400


@pytest.mark.django_db(transaction=True)
def test_p03_the_same_webhook_three_times_two_of_them_at_once(
    case: Case, stripe_server: StripeServer, live_server: Any
) -> None:
    stripe_server.stumbles.append(CUT_OFF_BUT_DONE)
    card = waiting_card(stripe_server)
    request = approve(card)
    assert (request.status, told(request)) == ("refunding", ["on_its_way"])
    event = stripe_server.event("refund.updated", stripe_server.refunds[0])

    def send() -> int:
        return stripe_server.send(event, live_server.url + HOOK)

    answers = [*at_once(send, send), *[send() for _ in case["events"][2:]]]
    assert answers == [numbers(case.expected)[0]] * len(case["events"])
    request = work_off(request)
    assert request.status == "refunded"
    assert told(request) == ["on_its_way"] + ["refunded"] * how_many(case.expected, "mail")
    changes = how_many(case.expected, "state change")
    assert ProviderEvent.objects.count() == RefundOutcome.objects.count() == changes


@pytest.mark.django_db
def test_p04_events_out_of_order_end_as_succeeded(case: Case, stripe_server: StripeServer) -> None:
    stripe_server.stumbles.append(CUT_OFF_BUT_DONE)
    request = approve(waiting_card(stripe_server))
    about = stripe_server.refunds[0]
    for event in case["events"]:
        kind, status, _, at = event.strip(")").split()
        created = datetime.fromisoformat(f"2026-11-01T{at}+00:00")
        deliver(stripe_server.event(kind, {**about, "status": status}, created=int(created.timestamp())))
    assert work_off(request).status == "refunded"
    assert outcomes(refund_of(request)) == [(after(case.expected, "ends as"), "webhook")]


@pytest.mark.django_db
def test_p05_a_refund_that_fails_days_later_is_before_staff_again_and_counts_no_more(
    case: Case, stripe_server: StripeServer
) -> None:
    why = case["events"][1].partition("(")[2].strip(")")
    days = numbers(case.expected)[0]
    request = approve(waiting_card(stripe_server))
    assert "We refunded $34.00" in page_of(request)
    failed = stripe_server.turn(stripe_server.refunds[0]["id"], "failed", failure_reason=why.replace(" ", "_"))
    deliver(stripe_server.event("refund.failed", failed))
    request = work_off(request)
    concern = open_card(request).concerns[0]["text"]
    assert (request.status, request.reopened) == ("needs_approval", True)
    assert concern == f"The bank refused the refund of $34.00 after it had said it was through: {why}."
    assert "request reopened to staff, ledger reversed" in case.expected
    assert (Charge.objects.get().reserved_minor, refund_of(request).status) == (0, "failed")
    assert live_refunds_since(request.customer_id, timezone.now() - timedelta(days=days)) == []
    assert told(request) == ["refunded", "refund_did_not_go_through"]
    page = page_of(request)
    assert "We refunded $34.00" not in page
    assert "did not go through" in page


@pytest.mark.django_db
def test_p05_after_a_late_failure_staff_can_pay_again_with_a_key_of_its_own(stripe_server: StripeServer) -> None:
    request = approve(waiting_card(stripe_server))
    failed = stripe_server.turn(stripe_server.refunds[0]["id"], "failed")
    deliver(stripe_server.event("charge.refund.updated", failed))
    request = approve(open_card(work_off(request)))
    assert request.status == "refunded"
    first, second = stripe_server.posts
    assert second.key == f"{first.key}_2"
    assert Charge.objects.get().reserved_minor == 3400


@pytest.mark.django_db
def test_p06_pending_is_on_its_way_never_failed_and_leaves_no_room_for_a_second(
    case: Case, stripe_server: StripeServer
) -> None:
    first, (day, last) = case["events"][0].split()[-1], case["events"][1].removeprefix("day ").split(": ")
    [shown] = quoted(case.expected)
    stripe_server.becomes = {"status": first, "pending_reason": "insufficient_funds"}
    request = approve(waiting_card(stripe_server))
    refund = refund_of(request)
    assert (request.status, refund.status, told(request)) == ("refunding", first, ["on_its_way"])
    page = page_of(request)
    assert f"Your refund of $34.00 is {shown}" in page
    assert after(case.expected, "never as") not in page.lower()
    assert "We refunded" not in page
    assert "We have refunded" not in page
    assert "not enough money in the shop" not in page
    assert (
        "not enough money in the shop" in request.steps.get(title__endswith="is on its way", for_customer=False).detail
    )
    paid(stripe_server, 10_000, order=request.line.order)
    with pytest.raises(RefundInFlight), transaction.atomic():
        pay_again(request)
    stripe_server.turn(stripe_server.refunds[0]["id"], last)
    Refund.objects.update(asked_at=timezone.now() - timedelta(days=int(day)))
    assert settle_due_refunds() == 1
    request = work_off(request)
    assert (request.status, told(request), len(stripe_server.posts)) == ("refunded", ["on_its_way", "refunded"], 1)
    assert "We refunded $34.00" in page_of(request)


def pay_again(request: RefundRequest) -> Refund:
    return issue_refund(
        order_id=request.line.order_id,
        line_id=request.line_id,
        request_uuid=request.uuid,
        run_uuid=None,
        units=1,
        amount_minor=100,
        currency="USD",
        automatic=False,
    )


@pytest.mark.django_db
def test_p11_a_request_in_progress_is_neither_a_failure_nor_a_success(case: Case, stripe_server: StripeServer) -> None:
    states = {"failure": "failed", "success": "succeeded"}
    never = [states[word] for word in re.findall(r"not as (\w+)", case.expected)]
    assert len(never) == len(states)
    assert [IN_PROGRESS.status] == numbers(case["say"])
    stripe_server.stumbles.append(IN_PROGRESS)
    request = approve(waiting_card(stripe_server))
    refund = refund_of(request)
    assert (request.status, refund.status, outcomes(refund)) == ("refunding", "reserved", [])
    assert refund.status not in never
    assert told(request) == ["on_its_way"]
    assert settle_due_refunds(timezone.now() + timedelta(minutes=2)) == 1
    assert work_off(request).status == "refunded"
    assert {asked.key for asked in stripe_server.posts} == {refund.key}


@pytest.mark.django_db(transaction=True)
def test_p12_two_clicks_and_one_from_slack_at_once_are_one_refund(case: Case, stripe_server: StripeServer) -> None:
    card = waiting_card(stripe_server)
    people = [(StaffFactory(), "desk"), (StaffFactory(first_name="Daniel", last_name="Reyes"), "desk")]
    people.append((people[0][0], "slack"))

    def click(by: Any, source: str) -> Callable[[], Decision]:
        return lambda: decide(approval_id=card.pk, by=by, choice="approve", source=source)

    answers = at_once(*[click(by, source) for by, source in people])
    late = [answer for answer in answers if isinstance(answer, Refusal)]
    decision = Decision.objects.get()
    assert [refusal.code for refusal in late] == ["already_decided"] * 2
    assert {refusal.extra["by"] for refusal in late} == {decision.decided_by.get_full_name()}
    assert quoted(case.expected)[0].startswith("already decided by")
    assert Decision.objects.count() == how_many(case.expected, "decision row")
    assert Run.objects.filter(trigger="decision").count() == how_many(case.expected, "run")
    assert work_off(card.request).status == "refunded"
    refunds = how_many(case.expected, "refund")
    assert len(stripe_server.posts) == len(stripe_server.refunds) == Refund.objects.count() == refunds
