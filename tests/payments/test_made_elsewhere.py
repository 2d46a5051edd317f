"""Refunds made by hand in Stripe's dashboard: written down, counted, and nobody's request is closed by them."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from payments.balance import left_on_order, live_refunds_since
from payments.models import Charge, ProviderEvent, Refund
from payments.settle_refund import settle_refund
from tests.agent.test_races import at_once
from tests.factories import RefundFactory
from tests.payments.stripe_rows import deliver, fresh, held, outcomes, paid, reserved
from tests.stripe_book import Json
from tests.stripe_server import StripeServer

pytestmark = pytest.mark.django_db


def told(server: StripeServer, refund: Json, kind: str = "refund.created") -> Refund:
    """The row of a refund after Stripe's message about it."""
    assert deliver(server.event(kind, refund)).status_code == 200
    return Refund.objects.get(provider_reference=refund["id"])


def test_it_is_written_down_and_counts_against_its_payment(stripe_server: StripeServer) -> None:
    charge = paid(stripe_server, 10_000, card_brand="Amex", card_last4="0005")
    by_hand = stripe_server.by_hand(charge.reference, 2500)
    row = told(stripe_server, by_hand)
    assert (row.request_uuid, row.run_uuid, row.line, row.units) == (None, None, None, 0)
    assert (row.key, row.status, row.amount_minor) == (f"external_{by_hand['id']}", "succeeded", 2500)
    assert (row.card_brand, row.card_last4, row.reserved_at.timestamp()) == ("Amex", "0005", by_hand["created"])
    assert outcomes(row) == [("succeeded", "webhook")]
    assert (held(row), left_on_order(charge.order).largest_left_minor) == (2500, 7500)
    assert ProviderEvent.objects.get().effect == f"made elsewhere, written down as {row.reference}"


def test_it_counts_in_the_customers_history(stripe_server: StripeServer) -> None:
    charge = paid(stripe_server)
    row = told(stripe_server, stripe_server.by_hand(charge.reference, 100))
    found = live_refunds_since(charge.order.customer_id, timezone.now() - timedelta(days=90))
    assert [refund.pk for refund in found] == [row.pk]


def test_its_later_news_are_taken_like_those_of_our_own(stripe_server: StripeServer) -> None:
    stripe_server.becomes = {"status": "pending", "pending_reason": "processing"}
    by_hand = stripe_server.by_hand(paid(stripe_server).reference, 3400)
    row = told(stripe_server, by_hand)
    assert (row.status, row.pending_reason, row.settled_at) == ("pending", "the provider is working on it", None)
    assert told(stripe_server, stripe_server.turn(by_hand["id"], "succeeded"), "refund.updated").status == "succeeded"
    failed = stripe_server.turn(by_hand["id"], "failed", failure_reason="declined")
    assert told(stripe_server, failed, "refund.failed").failure_reason == "the customer's bank declined it"
    assert (held(row), Refund.objects.count()) == (0, 1)


def test_it_is_looked_up_by_the_beat_while_it_is_pending(stripe_server: StripeServer) -> None:
    stripe_server.becomes = {"status": "pending"}
    row = told(stripe_server, stripe_server.by_hand(paid(stripe_server).reference, 3400))
    stripe_server.turn(row.provider_reference or "", "succeeded")
    assert settle_refund(row.pk, "beat").status == "succeeded"
    assert stripe_server.posts == []


def test_one_that_had_failed_already_counts_nothing(stripe_server: StripeServer) -> None:
    row = told(stripe_server, stripe_server.by_hand(paid(stripe_server).reference, 3400, status="canceled"))
    assert (row.status, row.failure_reason, held(row)) == ("failed", "canceled", 0)


def test_what_passes_the_rest_of_the_payment_is_noted_and_never_crashes(stripe_server: StripeServer) -> None:
    """Reserved here and given back there at the same moment: together more than was taken."""
    charge = paid(stripe_server, 10_000)
    ours = RefundFactory(charge=charge, amount_minor=8000)
    row = told(stripe_server, stripe_server.by_hand(charge.reference, 5000))
    assert held(row) == 10_000
    assert "$30.00 more went back than the payment took" in ProviderEvent.objects.get().effect
    assert settle_refund(ours.pk, "run").status == "failed"
    assert held(row) == 5000


def test_when_the_larger_one_fails_the_payment_holds_what_is_left(stripe_server: StripeServer) -> None:
    charge = paid(stripe_server, 10_000)
    ours = RefundFactory(charge=charge, amount_minor=8000, status="pending")
    by_hand = stripe_server.by_hand(charge.reference, 5000)
    row = told(stripe_server, by_hand)
    told(stripe_server, stripe_server.turn(by_hand["id"], "failed"), "refund.failed")
    assert (held(row), fresh(ours).status) == (8000, "pending")


def test_a_payment_of_another_shop_is_noted_only(stripe_server: StripeServer) -> None:
    stripe_server.payment("pi_of_another_shop", 3400)
    by_hand = stripe_server.by_hand("pi_of_another_shop", 3400)
    assert deliver(stripe_server.event("refund.created", by_hand)).status_code == 200
    assert not Refund.objects.exists()
    assert ProviderEvent.objects.get().effect == "nothing: the payment is not in this shop's book"


def test_another_currency_than_the_payments_is_noted_only(stripe_server: StripeServer) -> None:
    by_hand = stripe_server.by_hand(paid(stripe_server).reference, 3400)
    deliver(stripe_server.event("refund.created", {**by_hand, "currency": "eur"}))
    assert not Refund.objects.exists()
    assert "is in EUR, its payment in USD" in ProviderEvent.objects.get().effect


@pytest.mark.parametrize(
    ("currency", "at_stripe", "minor"), [("JPY", 3400, 3400), ("KWD", 1230, 1230), ("ISK", 900, 9)]
)
def test_amounts_are_read_in_stripes_units(
    stripe_server: StripeServer, currency: str, at_stripe: int, minor: int
) -> None:
    charge = paid(stripe_server, 10_000, currency=currency)
    assert told(stripe_server, stripe_server.by_hand(charge.reference, at_stripe)).amount_minor == minor


def test_a_second_refund_with_our_key_is_not_hidden_behind_the_first(stripe_server: StripeServer) -> None:
    """The key was forgotten and somebody asked again: two refunds at Stripe are two rows here."""
    charge = paid(stripe_server, 10_000)
    ours = RefundFactory(charge=charge, amount_minor=3400)
    settle_refund(ours.pk, "run")
    second = stripe_server.by_hand(charge.reference, 3400, metadata={"refund_key": ours.key})
    row = told(stripe_server, second)
    assert (row.request_uuid, held(row)) == (None, 6800)


@pytest.mark.parametrize("other", ["amount", "payment"])
def test_our_key_on_a_refund_that_is_not_ours_joins_nothing(stripe_server: StripeServer, other: str) -> None:
    ours = reserved(stripe_server)
    elsewhere = paid(stripe_server) if other == "payment" else ours.charge
    amount = 3400 if other == "payment" else 100
    row = told(stripe_server, stripe_server.by_hand(elsewhere.reference, amount, metadata={"refund_key": ours.key}))
    assert (row.pk != ours.pk, fresh(ours).status) == (True, "reserved")


def test_p14_a_doubled_payment_given_back_leaves_the_order_paid_and_the_request_open(
    stripe_server: StripeServer,
) -> None:
    first = paid(stripe_server)
    double = paid(stripe_server, order=first.order)
    told(stripe_server, stripe_server.by_hand(double.reference, 3400))
    assert set(Charge.objects.values_list("reference", "reserved_minor")) == {
        (first.reference, 0),
        (double.reference, 3400),
    }


@pytest.mark.django_db(transaction=True)
@pytest.mark.faults
def test_the_dashboards_message_and_our_own_adoption_at_once_count_the_money_once(
    stripe_server: StripeServer,
) -> None:
    for _ in range(4):
        ours = reserved(stripe_server)
        by_hand = stripe_server.by_hand(ours.charge.reference, 3400)
        event = stripe_server.event("refund.created", by_hand)
        answers = at_once(partial(settle_refund, ours.pk, "run"), partial(deliver, event))
        assert [answer for answer in answers if isinstance(answer, Exception)] == []
        settle_refund(ours.pk, "beat")
        live = Refund.objects.filter(charge=ours.charge, status="succeeded")
        assert [refund.provider_reference for refund in live] == [by_hand["id"]]
        assert (held(ours), answers[1].status_code) == (3400, 200)


@pytest.mark.django_db(transaction=True)
@pytest.mark.faults
def test_the_run_the_beat_and_the_webhook_at_once_are_one_outcome(stripe_server: StripeServer) -> None:
    for _ in range(4):
        refund = reserved(stripe_server)
        about = stripe_server.by_hand(refund.charge.reference, 3400, metadata={"refund_key": refund.key})
        event = stripe_server.event("refund.created", about)
        answers = at_once(
            partial(settle_refund, refund.pk, "run"), partial(settle_refund, refund.pk, "beat"), partial(deliver, event)
        )
        assert [answer for answer in answers if isinstance(answer, Exception)] == []
        assert (fresh(refund).status, len(outcomes(refund)), held(refund)) == ("succeeded", 1, 3400)
        assert Refund.objects.filter(charge=refund.charge).count() == 1
