"""The webhook's door: who may come in, and that a message has one effect however often it comes, in any order."""

from __future__ import annotations

import http.client
import json
import logging
import time
from collections.abc import Iterator
from logging.handlers import BufferingHandler
from typing import Any

import pytest
from django.test import Client

from payments.models import ProviderEvent, Refund, RefundOutcome
from payments.settle_refund import settle_refund
from payments.webhooks import MOST_BYTES
from tests.agent.test_races import at_once
from tests.payments.stripe_rows import HOOK, deliver, fresh, held, outcomes, paid, post, reserved
from tests.processes import DeskPrograms
from tests.stripe_book import Json
from tests.stripe_server import SECRET_KEY, WEBHOOK_SECRET, StripeServer, signed

pytestmark = pytest.mark.django_db


@pytest.fixture
def refund(stripe_server: StripeServer) -> Refund:
    """Known to Stripe, and our own answer about it was lost."""
    row = reserved(stripe_server)
    stripe_server.by_hand(row.charge.reference, 3400, metadata={"refund_key": row.key})
    return row


@pytest.fixture
def event(stripe_server: StripeServer, refund: Refund) -> Json:
    return stripe_server.event("refund.created", stripe_server.refunds[0])


def nothing_happened(refund: Refund) -> bool:
    return not ProviderEvent.objects.exists() and outcomes(refund) == [] and fresh(refund).status == "reserved"


def test_a_signed_message_is_taken_without_a_csrf_token_and_noted(refund: Refund, event: Json) -> None:
    answer = deliver(event)
    assert (answer.status_code, json.loads(answer.content)) == (200, {"received": True, "new": True})
    assert (fresh(refund).status, outcomes(refund)) == ("succeeded", [("succeeded", "webhook")])
    kept = ProviderEvent.objects.get()
    assert (kept.provider, kept.event_id, kept.kind) == ("stripe", event["id"], "refund.created")
    assert kept.said_at.timestamp() == event["created"]
    assert kept.effect == f"refund {refund.reference}: reserved -> succeeded"


def test_other_methods_are_refused(stripe_server: StripeServer) -> None:
    assert [getattr(Client(), method)(HOOK).status_code for method in ("get", "put", "delete")] == [405] * 3
    assert not ProviderEvent.objects.exists()


def test_the_address_has_no_slash_at_the_end() -> None:
    assert Client().post(f"{HOOK}/").status_code == 404


@pytest.mark.parametrize(
    ("fault", "code", "words"),
    [
        ("no header", "signature_missing", "header Stripe-Signature is missing"),
        ("stale", "signature_stale", "older than 300 seconds"),
        ("early", "signature_early", "a moment to come"),
        ("changed", "signature_wrong", "does not fit the message"),
        ("re-encoded", "signature_wrong", "does not fit the message"),
        ("other secret", "signature_wrong", "does not fit the message"),
        ("nonsense", "signature_wrong", "does not fit the message"),
        ("not ASCII", "signature_wrong", "does not fit the message"),
        ("no v1", "signature_wrong", "does not fit the message"),
        ("bytes that are no text", "signature_wrong", "does not fit the message"),
    ],
)
def test_what_is_not_signed_gets_a_sentence_and_leaves_no_trace(
    refund: Refund, event: Json, fault: str, code: str, words: str
) -> None:
    at = {"stale": int(time.time()) - 301, "early": int(time.time()) + 400}.get(fault)
    body, headers = signed(event, secret="whsec_other" if fault == "other secret" else WEBHOOK_SECRET, at=at)
    signature = headers["Stripe-Signature"]
    if fault == "changed":
        body = body.replace(b"3400", b"9400")
    if fault == "re-encoded":
        body = json.dumps(json.loads(body)).encode()
    if fault == "bytes that are no text":
        body = b"\xff\xfe" + body
    signature = {
        "no header": "",
        "nonsense": "hello",
        "not ASCII": f"t={int(time.time())},v1=\u00e9\u00e9",
        "no v1": signature.replace("v1=", "v0="),
    }.get(fault, signature)
    answer = post(body, signature)
    told = json.loads(answer.content)
    assert (answer.status_code, told["error"]) == (400, code)
    assert words in told["message"]
    assert nothing_happened(refund)


def test_a_signature_of_almost_five_minutes_ago_is_taken(refund: Refund, event: Json) -> None:
    assert deliver(event, at=int(time.time()) - 290).status_code == 200
    assert fresh(refund).status == "succeeded"


def test_a_body_that_is_too_large_is_not_read_to_its_end(refund: Refund, event: Json) -> None:
    event["data"]["filler"] = "x" * MOST_BYTES
    answer = deliver(event)
    assert (answer.status_code, json.loads(answer.content)["error"]) == (413, "too_large")
    assert nothing_happened(refund)


def test_without_a_secret_no_message_is_taken_and_stripe_sends_it_again(
    refund: Refund, event: Json, settings: Any
) -> None:
    settings.STRIPE_WEBHOOK_SECRET = ""
    answer = deliver(event, secret="")
    assert (answer.status_code, json.loads(answer.content)["error"]) == (503, "not_configured")
    assert nothing_happened(refund)


@pytest.mark.parametrize("odd", [{}, {"id": "evt_1"}, {"id": "", "type": "x", "created": 1}, ["evt_1"]])
def test_a_signed_text_that_is_no_event_is_refused(refund: Refund, odd: Any) -> None:
    answer = deliver(odd)
    assert (answer.status_code, json.loads(answer.content)["error"]) == (400, "not_an_event")
    assert nothing_happened(refund)


@pytest.mark.parametrize("kind", ["payout.paid", "v2.core.event_destination.ping", "charge.succeeded"])
def test_kinds_that_are_not_used_are_answered_and_noted(stripe_server: StripeServer, kind: str) -> None:
    assert deliver(stripe_server.event(kind, {"id": "po_1", "amount": 100})).status_code == 200
    assert ProviderEvent.objects.get().effect == "nothing: not a kind of message this desk uses"


def test_a_refund_that_cannot_be_read_is_answered_and_noted(stripe_server: StripeServer) -> None:
    assert deliver(stripe_server.event("refund.updated", {"id": "re_1"})).status_code == 200
    assert ProviderEvent.objects.get().effect == "nothing: no refund that can be read is in it"


@pytest.mark.parametrize(
    "odd",
    [
        {"id": "re_\x00"},
        {"id": "x" * 101},
        {"amount": 10**30},
        {"currency": "u\x00d"},
        {"created": "9999-12-31T23:59:59-14:00"},
        {"created": 0},
    ],
)
def test_a_signed_refund_that_no_book_could_hold_is_answered_and_noted(
    stripe_server: StripeServer, refund: Refund, odd: Json
) -> None:
    event = stripe_server.event("refund.created", {**stripe_server.refunds[0], **odd})
    assert deliver(event).status_code == 200
    assert ProviderEvent.objects.get().effect == "nothing: no refund that can be read is in it"
    assert (Refund.objects.count(), fresh(refund).status) == (1, "reserved")


@pytest.mark.parametrize("odd", [{"id": "evt_\x00"}, {"type": "refund\x00"}, {"created": "9999-12-31T23:59:59-14:00"}])
def test_a_signed_message_that_no_book_could_hold_is_refused(refund: Refund, event: Json, odd: Json) -> None:
    answer = deliver({**event, **odd})
    assert (answer.status_code, json.loads(answer.content)["error"]) == (400, "not_an_event")
    assert nothing_happened(refund)


def test_a_reason_that_no_database_stores_is_kept_without_that(stripe_server: StripeServer, refund: Refund) -> None:
    about = stripe_server.turn(stripe_server.refunds[0]["id"], "failed", failure_reason="bank\x00_closed")
    assert deliver(stripe_server.event("refund.failed", about)).status_code == 200
    assert fresh(refund).failure_reason == "bank closed"


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


@pytest.mark.django_db(transaction=True)
@pytest.mark.worker
def test_a_real_web_server_takes_signed_bytes_and_stops_reading_endless_ones(
    stripe_server: StripeServer, programs: DeskPrograms
) -> None:
    """Without a length in front, a body is only known to be too large by reading it."""
    row = reserved(stripe_server)
    about = stripe_server.by_hand(row.charge.reference, 3400, metadata={"refund_key": row.key})
    _, address = programs.web(STRIPE_WEBHOOK_SECRET=WEBHOOK_SECRET, STRIPE_SECRET_KEY=SECRET_KEY)
    line = http.client.HTTPConnection(address.removeprefix("http://"), timeout=20)
    pieces = (b"x" * 1024 for _ in range(1024))
    line.request("POST", HOOK, body=pieces, headers={"Stripe-Signature": "t=1,v1=2"}, encode_chunked=True)
    assert line.getresponse().status == 413
    assert stripe_server.send({}, address + HOOK) == 400
    assert stripe_server.send(stripe_server.event("refund.created", about), address + HOOK) == 200
    assert fresh(row).status == "succeeded"
    assert ProviderEvent.objects.count() == 1
