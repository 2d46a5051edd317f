"""Whole cases over Stripe: what the customer reads and what staff read, from the approval to the bank's last word."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from agent import finish_refund
from agent.finish_refund import settle_and_finish
from agent.lease import LeaseLost
from agent.models import Run
from agent.runs import claim
from intake.models import RefundRequest
from intake.refusals import Refusal
from payments.models import Charge, ProviderEvent, Refund
from payments.settle_refund import settle_refund
from tests.agent.falsify import named
from tests.agent.work_off import open_card, told, work_off
from tests.factories import LineFactory, RefundFactory, RequestFactory, StaffFactory
from tests.payments.desk_at_stripe import approve, page_of, refund_of, waiting_card
from tests.payments.stripe_rows import HOOK, deliver, fresh, outcomes, paid
from tests.stripe_book import BROKEN, CUT_OFF_BUT_DONE, Json, Stumble
from tests.stripe_server import StripeServer

pytestmark = pytest.mark.django_db


def news(server: StripeServer, request: RefundRequest, kind: str, status: str, **more: Any) -> RefundRequest:
    """The request after Stripe's message about its refund."""
    about = server.turn(server.refunds[0]["id"], status, **more)
    assert deliver(server.event(kind, about)).status_code == 200
    return work_off(request)


@pytest.mark.parametrize(
    "state",
    [{"status": "pending", "pending_reason": "processing"}, {"status": "new_word"}],
)
def test_only_stripes_own_word_makes_it_refunded(stripe_server: StripeServer, state: Json) -> None:
    stripe_server.becomes = state
    request = approve(waiting_card(stripe_server))
    assert (request.status, told(request)) == ("refunding", ["on_its_way"])
    page = page_of(request)
    assert "is on its way" in page
    assert "We refunded" not in page
    assert "We have refunded" not in page
    request = news(stripe_server, request, "refund.updated", "succeeded")
    assert (request.status, told(request)) == ("refunded", ["on_its_way", "refunded"])
    assert "We refunded $34.00" in page_of(request)


def test_a_refund_that_needs_the_customer_says_so_and_never_that_there_is_nothing_to_do(
    stripe_server: StripeServer,
) -> None:
    stripe_server.becomes = {"status": "requires_action"}
    request = approve(waiting_card(stripe_server))
    assert (request.status, told(request)) == ("refunding", ["refund_needs_you"])
    page = page_of(request)
    assert page.count("Your refund of $34.00 needs your answer") == 1
    assert "Our payment provider has sent you an e-mail that asks where the money should go" in page
    assert "is on its way" not in page
    request = news(stripe_server, request, "refund.updated", "succeeded")
    assert (request.status, told(request)) == ("refunded", ["refund_needs_you", "refunded"])
    assert named(request) == ""


def test_a_refund_that_comes_to_need_the_customer_on_its_way_says_so_once(stripe_server: StripeServer) -> None:
    stripe_server.becomes = {"status": "pending", "pending_reason": "processing"}
    request = approve(waiting_card(stripe_server))
    older = stripe_server.event("refund.created", dict(stripe_server.refunds[0]))
    for _ in range(2):
        request = news(stripe_server, request, "refund.updated", "requires_action")
    assert deliver(older).status_code == 200
    request = work_off(request)
    assert (request.status, told(request)) == ("refunding", ["on_its_way", "refund_needs_you"])
    assert outcomes(refund_of(request)) == [("pending", "run"), ("pending", "webhook")]
    assert "needs your answer" in page_of(request)
    assert named(request) == ""
    request = news(stripe_server, request, "refund.updated", "succeeded")
    assert (request.status, told(request)[-1]) == ("refunded", "refunded")
    assert named(request) == ""


@pytest.mark.parametrize("how", ["beat", "webhook"])
def test_once_the_customer_has_answered_the_page_says_so_and_an_old_message_changes_nothing(
    stripe_server: StripeServer, how: str
) -> None:
    stripe_server.becomes = {"status": "requires_action"}
    request = approve(waiting_card(stripe_server))
    refund = refund_of(request)
    old = stripe_server.event("refund.updated", dict(stripe_server.refunds[0]))
    about = stripe_server.turn(stripe_server.refunds[0]["id"], "pending")
    if how == "beat":
        settle_refund(refund.pk, "beat")
    else:
        deliver(stripe_server.event("refund.updated", about))
    deliver(old)
    request = work_off(request)
    assert (request.status, told(request)) == ("refunding", ["refund_needs_you", "on_its_way"])
    assert fresh(refund).pending_reason == ""
    page = page_of(request)
    assert "We have asked the bank to give it back" in page
    assert "answer that e-mail" not in page
    assert named(request) == ""


def test_a_message_whose_refund_cannot_be_asked_for_now_comes_again(stripe_server: StripeServer) -> None:
    stripe_server.becomes = {"status": "requires_action"}
    refund = refund_of(approve(waiting_card(stripe_server)))
    about = stripe_server.turn(stripe_server.refunds[0]["id"], "pending")
    event = stripe_server.event("refund.updated", about)
    stripe_server.down = True
    assert deliver(event).status_code == 503
    assert fresh(refund).waits_for_customer
    assert ProviderEvent.objects.count() == 0
    stripe_server.down = False
    assert deliver(event).status_code == 200
    assert not fresh(refund).waits_for_customer


def test_a_look_at_a_refund_on_its_way_finds_that_it_needs_the_customer(stripe_server: StripeServer) -> None:
    stripe_server.becomes = {"status": "pending"}
    request = approve(waiting_card(stripe_server))
    refund = refund_of(request)
    assert refund.pending_reason == ""
    stripe_server.turn(stripe_server.refunds[0]["id"], "requires_action")
    assert settle_refund(refund.pk, "beat").waits_for_customer
    assert told(work_off(request)) == ["on_its_way", "refund_needs_you"]


def test_no_answer_is_on_its_way_and_the_webhook_brings_the_end(stripe_server: StripeServer) -> None:
    stripe_server.stumbles.append(CUT_OFF_BUT_DONE)
    request = approve(waiting_card(stripe_server))
    page = page_of(request)
    assert (request.status, "is on its way" in page) == ("refunding", True)
    assert "We wait for the bank&#x27;s answer." in page
    assert "The bank is still working on it" not in page
    assert news(stripe_server, request, "refund.created", "succeeded").status == "refunded"
    assert told(request) == ["on_its_way", "refunded"]
    assert len(stripe_server.posts) == 1


@pytest.mark.parametrize(
    ("status", "reason", "words"),
    [
        (
            "failed",
            "lost_or_stolen_card",
            "The bank refused the refund of $34.00: the card was reported lost or stolen",
        ),
        ("canceled", "merchant_request", "The refund of $34.00 did not go through: canceled"),
    ],
)
def test_a_refund_that_fails_on_its_way_is_before_staff_with_the_reason(
    stripe_server: StripeServer, status: str, reason: str, words: str
) -> None:
    stripe_server.becomes = {"status": "pending"}
    request = approve(waiting_card(stripe_server))
    request = news(stripe_server, request, "charge.refund.updated", status, failure_reason=reason)
    assert request.status == "needs_approval"
    assert open_card(request).concerns[0]["text"] == f"{words}."
    assert told(request) == ["on_its_way", "refund_did_not_go_through"]
    assert words.rpartition(": ")[2] not in page_of(request)
    assert Charge.objects.get().reserved_minor == 0


def test_a_third_decimal_stripe_does_not_take_is_refused_to_staff_with_what_to_approve_instead(
    stripe_server: StripeServer,
) -> None:
    card = waiting_card(stripe_server, 20_000, currency="KWD")
    with pytest.raises(Refusal) as refusal:
        approve(card, amount_minor=12_345)
    assert (refusal.value.field, refusal.value.sentence) == (
        "amount",
        "Write another amount: Stripe sends KWD only with a 0 as the third decimal, so KWD12.340 or KWD12.350 but not "
        "KWD12.345.",
    )
    assert (Refund.objects.count(), stripe_server.asked) == (0, [])
    assert approve(card, amount_minor=12_350).status == "refunded"


def test_the_webhook_of_our_own_refund_that_overtakes_its_answer_is_not_told_twice(
    stripe_server: StripeServer, live_server: Any, transactional_db: None
) -> None:
    stripe_server.webhook = live_server.url + HOOK
    stripe_server.stumbles.append(Stumble(seconds=0.8, first=True))
    request = approve(waiting_card(stripe_server))
    refund = refund_of(request)
    assert (request.status, told(request)) == ("refunded", ["refunded"])
    assert outcomes(refund) == [("succeeded", "webhook")]
    assert (Refund.objects.count(), len(stripe_server.posts)) == (1, 1)


def test_a_500_that_stripe_repeats_for_a_day_stays_on_its_way_until_the_key_is_forgotten(
    stripe_server: StripeServer,
) -> None:
    stripe_server.stumbles.append(BROKEN)
    request = approve(waiting_card(stripe_server))
    refund = refund_of(request)
    for _ in range(3):
        assert settle_refund(refund.pk, "beat").status == "reserved"
    stripe_server.forget_keys()
    assert settle_refund(refund.pk, "beat").status == "succeeded"
    assert work_off(request).status == "refunded"
    assert (len(stripe_server.refunds), {asked.key for asked in stripe_server.posts}) == (1, {refund.key})


def test_an_answer_that_comes_when_another_worker_has_ended_the_run_still_finishes_the_request(
    stripe_server: StripeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = LineFactory()
    charge = paid(stripe_server, order=line.order)
    request = RequestFactory(line=line)
    lease = claim(request.runs.get().pk)
    assert lease is not None
    RefundRequest.objects.update(status="refunding")
    refund = RefundFactory(charge=charge, request_uuid=request.uuid, amount_minor=3400, run_uuid=lease.run_id)

    def slow(refund_id: uuid.UUID, source: str) -> Refund:
        Run.objects.update(status="done", token=None)
        return settle_refund(refund_id, source)

    monkeypatch.setattr(finish_refund, "settle_refund", slow)
    with pytest.raises(LeaseLost):
        settle_and_finish(lease, refund.pk)
    request.refresh_from_db()
    assert (request.status, outcomes(refund)) == ("refunding", [("succeeded", "run")])
    assert work_off(request).status == "refunded"
    assert (told(request), Run.objects.filter(trigger="outcome", status="done").count()) == (["refunded"], 1)


def test_staff_may_approve_again_after_a_failure_and_news_of_the_first_try_changes_nothing(
    stripe_server: StripeServer,
) -> None:
    stripe_server.becomes = {"status": "failed", "failure_reason": "declined"}
    card = waiting_card(stripe_server)
    request = approve(card)
    assert request.status == "needs_approval"
    stripe_server.becomes = {"status": "succeeded"}
    request = approve(open_card(request), StaffFactory())
    request = news(stripe_server, request, "refund.failed", "failed", failure_reason="declined")
    assert (request.status, told(request)) == ("refunded", ["refund_did_not_go_through", "refunded"])
    assert set(Refund.objects.values_list("attempt", "status")) == {(1, "failed"), (2, "succeeded")}
