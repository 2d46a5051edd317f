"""The Stripe provider against a Stripe on this machine, through the real SDK."""

from __future__ import annotations

from typing import Any

import pytest

from payments.providers.base import NoAnswer, ProviderAnswer, RefundOrder
from payments.providers.stripe import Stripe
from payments.providers.stripe_line import payment_named, refunds_of
from payments.settle_refund import settle_refund
from tests.factories import RefundFactory
from tests.payments.stripe_rows import fresh, held, outcomes, paid, reserved
from tests.processes import wait_until
from tests.stripe_book import (
    BROKEN,
    CUT_OFF,
    CUT_OFF_BUT_DONE,
    HTML,
    IN_PROGRESS,
    SILENT,
    SILENT_BUT_DONE,
    TOO_MANY,
    Stumble,
)
from tests.stripe_server import StripeServer

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("kind", "named"), [("pi", "payment_intent"), ("ch", "charge")])
def test_a_refund_names_its_payment_carries_our_key_and_is_answered_at_once(
    stripe_server: StripeServer, kind: str, named: str
) -> None:
    refund = reserved(stripe_server, kind=kind)
    after = settle_refund(refund.pk, "run")
    assert (after.status, after.provider_reference) == ("succeeded", stripe_server.refunds[0]["id"])
    [asked] = stripe_server.posts
    assert asked.key == refund.key
    assert asked.values == {
        "amount": "3400",
        named: refund.charge.reference,
        "metadata[refund_key]": refund.key,
        "metadata[refund_reference]": refund.reference,
    }


@pytest.mark.parametrize(
    ("state", "status", "pending", "failure"),
    [
        ({"status": "pending", "pending_reason": "charge_pending"}, "pending", "the payment itself is not through", ""),
        ({"status": "pending", "pending_reason": None}, "pending", "", ""),
        ({"status": "requires_action"}, "pending", "the customer has to say where the money should go", ""),
        ({"status": "something_new"}, "pending", "", ""),
        ({"status": None}, "pending", "", ""),
        ({"status": "failed", "failure_reason": "expired_or_canceled_card"}, "failed", "", "the card has expired"),
        ({"status": "failed", "failure_reason": "bank_account_closed"}, "failed", "", "bank account closed"),
        ({"status": "failed"}, "failed", "", "the bank gave no reason"),
        ({"status": "canceled", "failure_reason": "merchant_request"}, "failed", "", "canceled"),
    ],
)
def test_each_state_of_stripe_means_one_of_ours_with_its_reason_in_words(
    stripe_server: StripeServer, state: dict[str, str], status: str, pending: str, failure: str
) -> None:
    stripe_server.becomes = state
    refund = settle_refund(reserved(stripe_server).pk, "run")
    assert refund.status == status
    assert refund.pending_reason.startswith(pending)
    assert refund.failure_reason.startswith(failure)
    assert bool(refund.pending_reason) == bool(pending)
    assert held(refund) == (0 if status == "failed" else 3400)


def test_a_refund_that_gets_through_keeps_no_reason_for_waiting(stripe_server: StripeServer) -> None:
    stripe_server.becomes = {"status": "pending", "pending_reason": "insufficient_funds"}
    refund = reserved(stripe_server)
    assert "not enough money" in settle_refund(refund.pk, "run").pending_reason
    stripe_server.turn(stripe_server.refunds[0]["id"], "succeeded")
    after = settle_refund(refund.pk, "beat")
    assert (after.status, after.pending_reason) == ("succeeded", "")
    assert len(stripe_server.posts) == 1
    assert stripe_server.asked[-1].what == f"GET /v1/refunds/{after.provider_reference}"


@pytest.mark.parametrize("stumble", [CUT_OFF, BROKEN, TOO_MANY, IN_PROGRESS, HTML])
def test_trouble_is_no_answer_and_it_is_looked_up_before_it_is_asked_again(
    stripe_server: StripeServer, stumble: Stumble
) -> None:
    stripe_server.stumbles.append(stumble)
    refund = reserved(stripe_server)
    assert settle_refund(refund.pk, "run").status == "reserved"
    assert (outcomes(refund), held(refund), len(stripe_server.posts)) == ([], 3400, 1)
    stripe_server.forget_keys()
    assert settle_refund(refund.pk, "beat").status == "succeeded"
    assert [asked.what for asked in stripe_server.asked[1:]] == ["GET /v1/refunds", "POST /v1/refunds"]
    assert {asked.key for asked in stripe_server.posts} == {refund.key}
    assert stripe_server.posts[0].values == stripe_server.posts[1].values
    assert len(stripe_server.refunds) == 1


def test_p11_what_stripe_is_still_working_on_is_left_in_flight_and_asked_for_once_more(
    stripe_server: StripeServer,
) -> None:
    stripe_server.stumbles.append(SILENT)
    refund = reserved(stripe_server)
    assert settle_refund(refund.pk, "run").status == "reserved"
    assert settle_refund(refund.pk, "beat").status == "reserved"
    assert (outcomes(refund), held(refund), stripe_server.refunds) == ([], 3400, [])
    wait_until(lambda: settle_refund(refund.pk, "beat").status == "succeeded", 5)
    assert {asked.key for asked in stripe_server.posts} == {refund.key}
    assert len(stripe_server.refunds) == 1


@pytest.mark.parametrize("stumble", [SILENT_BUT_DONE, CUT_OFF_BUT_DONE])
def test_a_refund_that_was_made_before_the_line_broke_is_found_after_its_key_is_forgotten(
    stripe_server: StripeServer, stumble: Stumble
) -> None:
    stripe_server.stumbles.append(stumble)
    refund = reserved(stripe_server)
    assert settle_refund(refund.pk, "run").status == "reserved"
    stripe_server.forget_keys()
    assert settle_refund(refund.pk, "beat").status == "succeeded"
    assert (len(stripe_server.posts), len(stripe_server.refunds)) == (1, 1)


def test_it_is_found_behind_a_hundred_others_of_the_same_payment(stripe_server: StripeServer) -> None:
    charge = paid(stripe_server, 100_000)
    refund = RefundFactory(charge=charge, amount_minor=3400)
    stripe_server.stumbles.append(CUT_OFF_BUT_DONE)
    settle_refund(refund.pk, "run")
    for _ in range(120):
        stripe_server.by_hand(charge.reference, 100)
    assert settle_refund(refund.pk, "beat").status == "succeeded"
    assert len(stripe_server.posts) == 1


def test_a_part_of_the_refunds_is_never_taken_for_all_of_them(
    stripe_server: StripeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("payments.providers.stripe_line.PAGE", 2)
    monkeypatch.setattr("payments.providers.stripe_line.MOST_PAGES", 2)
    charge = paid(stripe_server, 100_000)
    for _ in range(5):
        stripe_server.by_hand(charge.reference, 100)
    with pytest.raises(NoAnswer, match="only the newest 4"):
        refunds_of(payment_named(charge.reference))
    refund = RefundFactory(charge=charge, amount_minor=3400, asked_at="2026-01-01T00:00:00Z")
    assert settle_refund(refund.pk, "beat").status == "reserved"
    assert stripe_server.posts == []


def test_a_key_of_another_account_never_makes_a_refund_in_flight_a_failed_one(
    stripe_server: StripeServer, settings: Any
) -> None:
    stripe_server.stumbles.append(CUT_OFF_BUT_DONE)
    refund = reserved(stripe_server)
    settle_refund(refund.pk, "run")
    payments, stripe_server.payments = stripe_server.payments, []
    assert settle_refund(refund.pk, "beat").status == "reserved"
    settings.STRIPE_SECRET_KEY = "sk_test_wrong"
    assert settle_refund(refund.pk, "beat").status == "reserved"
    settings.STRIPE_SECRET_KEY = ""
    asked = len(stripe_server.asked)
    assert settle_refund(refund.pk, "beat").status == "reserved"
    assert (len(stripe_server.posts), len(stripe_server.asked)) == (1, asked)
    stripe_server.payments, settings.STRIPE_SECRET_KEY = payments, "sk_test_local"
    assert settle_refund(refund.pk, "beat").status == "succeeded"


def test_a_payment_stripe_does_not_know_fails_with_that_reason(stripe_server: StripeServer) -> None:
    refund = reserved(stripe_server)
    stripe_server.payments.clear()
    after = settle_refund(refund.pk, "run")
    assert (after.status, after.failure_reason) == ("failed", "the provider does not know the payment")
    assert held(refund) == 0


def test_a_reference_that_is_not_stripes_fails_without_asking(stripe_server: StripeServer) -> None:
    refund = RefundFactory(charge__provider="stripe", charge__reference="book_7")
    after = settle_refund(refund.pk, "run")
    assert (after.status, after.failure_reason) == ("failed", "“book_7” names no payment at Stripe")
    assert stripe_server.asked == []


def test_a_disputed_payment_fails_with_a_plain_reason(stripe_server: StripeServer) -> None:
    error = {"type": "invalid_request_error", "code": "charge_disputed", "message": "Charge has been charged back."}
    stripe_server.stumbles.append(Stumble(status=400, body={"error": error}))
    after = settle_refund(reserved(stripe_server).pk, "run")
    assert after.failure_reason.startswith("the customer has disputed the payment")


def test_a_refusal_without_a_code_is_told_in_stripes_words(stripe_server: StripeServer) -> None:
    error = {"type": "card_error", "message": "This card cannot be refunded."}
    stripe_server.stumbles.append(Stumble(status=402, body={"error": error}))
    after = settle_refund(reserved(stripe_server).pk, "run")
    assert (after.status, after.failure_reason) == ("failed", "the provider says “This card cannot be refunded”")


def test_p08_what_was_refunded_by_hand_and_no_row_knows_is_adopted(stripe_server: StripeServer) -> None:
    refund = reserved(stripe_server)
    by_hand = stripe_server.by_hand(refund.charge.reference, 3400)
    after = settle_refund(refund.pk, "run")
    assert (after.status, after.provider_reference) == ("succeeded", by_hand["id"])
    assert [asked.what for asked in stripe_server.asked] == ["POST /v1/refunds", "GET /v1/refunds"]
    settle_refund(refund.pk, "beat")
    assert len(stripe_server.asked) == 2


@pytest.mark.parametrize("why", ["another amount", "known to a row", "failed", "of another desk"])
def test_p08_what_does_not_fit_is_not_adopted_and_the_refund_fails_once(stripe_server: StripeServer, why: str) -> None:
    refund = reserved(stripe_server)
    amount = 3000 if why == "another amount" else 3400
    by_hand = stripe_server.by_hand(refund.charge.reference, amount)
    if why == "another amount":
        stripe_server.by_hand(refund.charge.reference, 400)
    if why == "known to a row":
        RefundFactory(charge=refund.charge, status="failed", provider_reference=by_hand["id"])
    if why == "failed":
        stripe_server.turn(by_hand["id"], "failed")
        error = {"type": "invalid_request_error", "code": "charge_already_refunded", "message": "Already refunded."}
        stripe_server.stumbles.append(Stumble(status=400, body={"error": error}))
    if why == "of another desk":
        stripe_server.refunds[0]["metadata"] = {"refund_key": "refund_of_another_desk"}
    after = settle_refund(refund.pk, "run")
    assert (after.status, after.provider_reference) == ("failed", None)
    assert after.failure_reason == "the payment has been given back already, by a refund made outside this desk"
    asked = len(stripe_server.asked)
    assert settle_refund(refund.pk, "beat").status == "failed"
    assert (len(stripe_server.asked), held(refund)) == (asked, 0)


def test_more_than_is_left_fails_with_a_plain_reason_after_one_look(stripe_server: StripeServer) -> None:
    charge = paid(stripe_server, 10_000)
    stripe_server.by_hand(charge.reference, 8000)
    refund = RefundFactory(charge=charge, amount_minor=3400)
    after = settle_refund(refund.pk, "run")
    assert after.failure_reason == "less than this is left of the payment, because of refunds made outside this desk"
    assert [asked.what for asked in stripe_server.asked] == ["POST /v1/refunds", "GET /v1/refunds"]


def test_no_answer_to_the_one_look_leaves_it_in_flight(
    stripe_server: StripeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    refund = reserved(stripe_server)
    stripe_server.by_hand(refund.charge.reference, 3000)
    monkeypatch.setattr("payments.providers.stripe_line.PAGE", 1)
    monkeypatch.setattr("payments.providers.stripe_line.MOST_PAGES", 1)
    stripe_server.by_hand(refund.charge.reference, 400)
    assert settle_refund(refund.pk, "run").status == "reserved"


def test_a_refund_of_stripe_belongs_to_one_row_only(stripe_server: StripeServer) -> None:
    """Written down by a webhook between the look and our own answer: asked again, the answer is another one."""
    refund = reserved(stripe_server)
    by_hand = stripe_server.by_hand(refund.charge.reference, 3400)
    real = Stripe.refund

    def written_down_meanwhile(provider: Stripe, order: RefundOrder) -> ProviderAnswer:
        answer = real(provider, order)
        RefundFactory(charge=refund.charge, status="failed", provider_reference=by_hand["id"])
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stripe, "refund", written_down_meanwhile)
        assert settle_refund(refund.pk, "run").status == "reserved"
    assert settle_refund(refund.pk, "beat").status == "failed"
    assert fresh(refund).provider_reference is None


@pytest.mark.parametrize(
    ("currency", "minor", "sent"), [("JPY", 5800, "5800"), ("KWD", 1230, "1230"), ("ISK", 900, "90000")]
)
def test_currencies_reach_stripe_in_its_own_units(
    stripe_server: StripeServer, currency: str, minor: int, sent: str
) -> None:
    refund = reserved(stripe_server, minor, currency=currency)
    assert settle_refund(refund.pk, "run").status == "succeeded"
    assert stripe_server.posts[0].values["amount"] == sent


def test_a_third_decimal_that_stripe_does_not_take_is_refused_with_a_sentence(stripe_server: StripeServer) -> None:
    charge = paid(stripe_server, 10_000, currency="KWD")
    refund = RefundFactory(charge=charge, amount_minor=1234)
    after = settle_refund(refund.pk, "run")
    assert after.failure_reason == (
        "Stripe sends KWD only with a 0 as the third decimal, so KWD1.230 or KWD1.240 but not KWD1.234"
    )
    assert (stripe_server.asked, held(refund)) == ([], 0)
