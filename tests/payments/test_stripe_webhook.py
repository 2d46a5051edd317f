"""The webhook's door: who may come in, and what a message must hold to be taken."""

from __future__ import annotations

import http.client
import json
import time
from typing import Any

import pytest
from django.test import Client

from payments.models import ProviderEvent, Refund
from payments.webhooks import MOST_BYTES
from tests.payments.stripe_rows import HOOK, deliver, fresh, nothing_happened, outcomes, post, reserved
from tests.processes import DeskPrograms
from tests.stripe_book import Json
from tests.stripe_server import SECRET_KEY, WEBHOOK_SECRET, StripeServer, signed

pytestmark = pytest.mark.django_db


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
