"""What a message of Stripe's does to the book: its effect once, however often it comes, and in any order."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from logging.handlers import BufferingHandler
from typing import Any

import pytest
from django.test import Client

from payments.models import ProviderEvent, Refund, RefundOutcome
from payments.settle_refund import settle_refund
from tests.agent.test_races import at_once
from tests.payments.stripe_rows import HOOK, deliver, fresh, held, nothing_happened, outcomes, paid, reserved
from tests.stripe_book import Json
from tests.stripe_server import StripeServer, signed

pytestmark = pytest.mark.django_db


def test_a_message_about_our_refund_with_another_amount_changes_nothing(
    stripe_server: StripeServer, refund: Refund
) -> None:
    deliver(stripe_server.event("refund.created", stripe_server.refunds[0]))
    about = {**stripe_server.refunds[0], "status": "failed", "amount": 100}
    assert deliver(stripe_server.event("refund.failed", about)).status_code == 200
    assert ProviderEvent.objects.first().effect.startswith("nothing: the book has another amount")  # type: ignore[union-attr]
    assert (fresh(refund).status, held(refund)) == ("succeeded", 3400)


@pytest.mark.parametrize("kind", ["refund.created", "refund.updated", "refund.failed", "charge.refund.updated"])
def test_every_kind_of_message_about_a_refund_brings_its_news(
    stripe_server: StripeServer, refund: Refund, kind: str
) -> None:
    status = "failed" if kind == "refund.failed" else "succeeded"
    about = stripe_server.turn(stripe_server.refunds[0]["id"], status, failure_reason="declined")
    assert deliver(stripe_server.event(kind, about)).status_code == 200
    assert fresh(refund).status == status


def test_the_same_message_again_is_answered_and_changes_nothing(refund: Refund, event: Json) -> None:
    answers = [json.loads(deliver(event).content)["new"] for _ in range(3)]
    assert answers == [True, False, False]
    assert (ProviderEvent.objects.count(), RefundOutcome.objects.count()) == (1, 1)


def test_an_older_message_that_comes_late_changes_nothing(stripe_server: StripeServer, refund: Refund) -> None:
    succeeded = stripe_server.refunds[0]
    deliver(stripe_server.event("refund.updated", succeeded, created=1_800_000_005))
    deliver(stripe_server.event("refund.created", {**succeeded, "status": "pending"}, created=1_800_000_001))
    assert (fresh(refund).status, outcomes(refund)) == ("succeeded", [("succeeded", "webhook")])
    assert ProviderEvent.objects.latest("pk").effect.startswith("nothing: refund")


def test_a_failure_that_comes_before_the_success_it_follows_stays_the_last_word(
    stripe_server: StripeServer, refund: Refund
) -> None:
    succeeded = dict(stripe_server.refunds[0])
    failed = stripe_server.turn(succeeded["id"], "failed", failure_reason="lost_or_stolen_card")
    deliver(stripe_server.event("refund.failed", failed))
    deliver(stripe_server.event("refund.created", succeeded))
    assert (fresh(refund).status, held(refund)) == ("failed", 0)
    assert fresh(refund).failure_reason == "the card was reported lost or stolen"


def test_r02_the_webhook_comes_before_our_own_answer_is_saved_and_they_are_one_fact(
    stripe_server: StripeServer, refund: Refund, event: Json
) -> None:
    deliver(event)
    after = settle_refund(refund.pk, "run")
    assert (after.status, after.provider_reference) == ("succeeded", stripe_server.refunds[0]["id"])
    assert outcomes(refund) == [("succeeded", "webhook")]
    assert (Refund.objects.count(), stripe_server.posts) == (1, [])


@pytest.mark.parametrize("with_refunds", [True, False])
def test_charge_refunded_brings_the_news_also_when_it_does_not_list_the_refunds(
    stripe_server: StripeServer, refund: Refund, with_refunds: bool
) -> None:
    stripe_server.by_hand(paid(stripe_server).reference, 100)
    extra = stripe_server.payments[0]
    extra.amount += 500
    by_hand = stripe_server.by_hand(extra.intent, 500)
    about = stripe_server.charge_object(extra.intent, with_refunds=with_refunds)
    assert deliver(stripe_server.event("charge.refunded", about)).status_code == 200
    assert fresh(refund).status == "succeeded"
    assert Refund.objects.filter(provider_reference=by_hand["id"], request_uuid=None).exists()
    assert [asked.what for asked in stripe_server.asked] == ([] if with_refunds else ["GET /v1/refunds"])


def test_charge_refunded_with_a_sum_we_know_asks_nobody(stripe_server: StripeServer, refund: Refund) -> None:
    Refund.objects.filter(pk=refund.pk).update(provider_reference=stripe_server.refunds[0]["id"])
    about = stripe_server.charge_object(refund.charge.reference)
    assert deliver(stripe_server.event("charge.refunded", about)).status_code == 200
    assert (ProviderEvent.objects.get().effect, stripe_server.asked) == ("known", [])


def test_a_refund_by_hand_of_the_amount_of_ours_that_stripe_has_not_seen_is_written_down(
    stripe_server: StripeServer,
) -> None:
    ours = reserved(stripe_server, 3400)
    stripe_server.by_hand(ours.charge.reference, 3400)
    about = stripe_server.charge_object(ours.charge.reference)
    assert deliver(stripe_server.event("charge.refunded", about)).status_code == 200
    by_hand = Refund.objects.get(request_uuid=None)
    assert (by_hand.amount_minor, by_hand.status, fresh(ours).status) == (3400, "succeeded", "reserved")


def test_a_message_for_which_stripe_cannot_be_asked_is_put_off_and_not_stored(
    stripe_server: StripeServer, refund: Refund
) -> None:
    event = stripe_server.event("charge.refunded", stripe_server.charge_object(refund.charge.reference))
    event["data"]["object"]["amount_refunded"] = 17
    stripe_server.down = True
    answer = deliver(event)
    assert (answer.status_code, json.loads(answer.content)["error"]) == (503, "try_again")
    assert nothing_happened(refund)
    stripe_server.down = False
    assert deliver(event).status_code == 200
    assert fresh(refund).status == "succeeded"


def test_the_message_and_its_effect_are_one_transaction(
    refund: Refund, event: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*args: object) -> str:
        raise RuntimeError("in the middle")

    client = Client(raise_request_exception=False)
    body, headers = signed(event)
    with monkeypatch.context() as patch:
        patch.setattr("payments.stripe_events.take_in_refund", breaks)
        assert client.post(HOOK, body, "application/json", headers=headers).status_code == 500
    assert nothing_happened(refund)
    assert client.post(HOOK, body, "application/json", headers=headers).status_code == 200
    assert fresh(refund).status == "succeeded"


@pytest.fixture
def errors() -> Iterator[list[logging.LogRecord]]:
    """What would be reported as an error."""
    handler = BufferingHandler(capacity=1000)
    handler.setLevel(logging.ERROR)
    logging.getLogger().addHandler(handler)
    yield handler.buffer
    logging.getLogger().removeHandler(handler)


@pytest.mark.django_db(transaction=True)
def test_r03_the_same_message_several_times_at_once_over_http_has_one_effect(
    stripe_server: StripeServer, live_server: Any, errors: list[logging.LogRecord]
) -> None:
    row = reserved(stripe_server)
    about = stripe_server.by_hand(row.charge.reference, 3400, metadata={"refund_key": row.key})
    event = stripe_server.event("refund.created", about)

    def send() -> int:
        return stripe_server.send(event, live_server.url + HOOK)

    assert [*at_once(send, send, send, send), send()] == [200] * 5
    assert (fresh(row).status, outcomes(row)) == ("succeeded", [("succeeded", "webhook")])
    assert ProviderEvent.objects.count() == 1
    assert errors == []
