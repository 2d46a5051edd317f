"""The staff's HTTP API: the queues, a card, the decision on it, what came back."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.authtoken.models import Token

from agent.models import Approval, Decision
from intake.models import Receipt, RefundRequest, Return
from tests.desk.rows import card_for, kettle_request, onlooker
from tests.factories import RefundFactory

JSON = "application/json"


@pytest.fixture
def request_(db: None) -> RefundRequest:
    return kettle_request()


@pytest.fixture
def card(request_: RefundRequest) -> Approval:
    return card_for(request_, draft_question="Does it leak?", reasoning="Clear damage.")


def as_user(user: User) -> Client:
    token, _ = Token.objects.get_or_create(user=user)
    return Client(headers={"Authorization": f"Token {token.key}"})


def post(user: User, address: str, **body: Any) -> Any:
    return as_user(user).post(address, body, content_type=JSON)


def with_return(status: str = "awaiting_return") -> RefundRequest:
    request = kettle_request(status)
    soon = timezone.now() + timedelta(days=7)
    Return.objects.create(request=request, code="RMA-ABCDEF", amount_minor=12900, ship_by=soon, check_at=soon)
    return request


def test_a_queue_is_a_list_of_requests_with_their_open_card(daniel: User, card: Approval) -> None:
    (row,) = as_user(daniel).get("/api/v1/queue/needs-approval").json()
    request = card.request
    waiting_since = row.pop("waiting_since")
    assert row == {
        "id": str(request.uuid),
        "number": request.number,
        "status": "needs_approval",
        "customer": "Priya Raman",
        "item": "Gooseneck kettle, 0.9 L",
        "amount": 12900,
        "currency": "USD",
        "reason": "damaged",
        "card": {"id": str(card.pk), "recommendation": "refund"},
    }
    assert datetime.fromisoformat(waiting_since) == request.status_changed_at


@pytest.mark.parametrize(
    ("slug", "status"),
    [
        ("agent-working", "working"),
        ("waiting-on-customer", "needs_customer"),
        ("returns", "awaiting_return"),
        ("resolved", "refunded"),
        ("all", "submitted"),
    ],
)
def test_every_queue_answers(daniel: User, slug: str, status: str) -> None:
    kettle_request(status)
    (row,) = as_user(daniel).get(f"/api/v1/queue/{slug}").json()
    assert (row["status"], row["card"]) == (status, None)


def test_an_approval_shows_the_whole_card(daniel: User, card: Approval) -> None:
    shown = as_user(daniel).get(f"/api/v1/approvals/{card.pk}").json()
    assert datetime.fromisoformat(shown.pop("opened_at")) == card.opened_at
    assert shown == {
        "id": str(card.pk),
        "request": str(card.request.uuid),
        "recommendation": "refund",
        "amount": 12900,
        "findings": card.findings,
        "concerns": card.concerns,
        "failed_rules": card.failed_rules,
        "reasoning": "Clear damage.",
        "counter_case": {"text": "It could have happened in use.", "step": 2, "source": "model"},
        "would_change": "A picture of it whole.",
        "draft_question": "Does it leak?",
        "require_return": False,
        "made_elsewhere": [],
        "decision": None,
    }


def test_a_card_with_nothing_against_it_says_null(daniel: User) -> None:
    card = card_for(kettle_request(), counter_case=None, would_change="")
    shown = as_user(daniel).get(f"/api/v1/approvals/{card.pk}").json()
    assert (shown["counter_case"], shown["would_change"]) == (None, "")


def test_a_card_tells_what_was_given_back_by_hand(daniel: User, card: Approval) -> None:
    charge, made = card.request.line.order.charges.get(), timezone.now() - timedelta(days=2)
    by_hand: dict[str, Any] = {"charge": charge, "request_uuid": None, "status": "succeeded"}
    RefundFactory(**by_hand, key="external_1", amount_minor=12900, reserved_at=made, provider_reference="re_3Q")
    unnamed = RefundFactory(**by_hand, key="external_2", amount_minor=100, reserved_at=made - timedelta(days=1))
    first, second = as_user(daniel).get(f"/api/v1/approvals/{card.pk}").json()["made_elsewhere"]
    assert datetime.fromisoformat(first.pop("at")) == made
    assert first == {"amount": 12900, "currency": "USD", "reference": "re_3Q"}
    assert (second["amount"], second["reference"]) == (100, unnamed.reference)


def test_a_card_takes_as_many_queries_with_refunds_made_elsewhere_as_without(
    daniel: User, card: Approval, django_assert_num_queries: Any
) -> None:
    client, address = as_user(daniel), f"/api/v1/approvals/{card.pk}"
    with CaptureQueriesContext(connection) as captured:
        client.get(address)
    for key in ("external_1", "external_2"):
        RefundFactory(charge=card.request.line.order.charges.get(), request_uuid=None, key=key, amount_minor=100)
    with django_assert_num_queries(len(captured)):
        assert len(client.get(address).json()["made_elsewhere"]) == 2


def test_no_answer_to_staff_is_kept_on_its_way(daniel: User, card: Approval) -> None:
    for path in ("queue/all", f"approvals/{card.pk}", "approvals/none"):
        assert "no-store" in as_user(daniel).get(f"/api/v1/{path}")["Cache-Control"], path


def test_a_decision_is_made_and_shown(daniel: User, card: Approval) -> None:
    answer = post(
        daniel, f"/api/v1/approvals/{card.pk}/decision", decision="approve", amount=10000, require_return=True
    )
    decision = Decision.objects.get()
    assert answer.status_code == 201
    assert (decision.amount_minor, decision.require_return, decision.source, decision.decided_by) == (
        10000,
        True,
        "api",
        daniel,
    )
    shown = as_user(daniel).get(f"/api/v1/approvals/{card.pk}").json()["decision"]
    assert (shown["decision"], shown["amount"], shown["by"]) == ("approve", 10000, "Daniel Reyes")


def test_shipping_is_approved_on_top(daniel: User, card: Approval) -> None:
    assert post(daniel, f"/api/v1/approvals/{card.pk}/decision", decision="approve", shipping=800).status_code == 201
    decision = Decision.objects.get()
    assert (decision.amount_minor, decision.shipping_minor) == (13700, 800)


def test_a_field_nobody_knows_is_named(daniel: User, card: Approval) -> None:
    answer = post(daniel, f"/api/v1/approvals/{card.pk}/decision", decision="approve", unit=1)
    assert answer.json() == {
        "error": "invalid_input",
        "message": "unit: There is no such field. Known are: decision, note, amount, shipping, units, require_return.",
        "field": "unit",
    }
    assert Decision.objects.count() == 0


def test_without_an_amount_the_cards_amount_counts(daniel: User, card: Approval) -> None:
    assert post(daniel, f"/api/v1/approvals/{card.pk}/decision", decision="approve").status_code == 201
    assert Decision.objects.get().amount_minor == 12900


def test_without_a_note_the_cards_question_is_asked(daniel: User, card: Approval) -> None:
    post(daniel, f"/api/v1/approvals/{card.pk}/decision", decision="ask_customer", note="")
    assert Decision.objects.get().note == "Does it leak?"


def test_the_second_decision_is_told_who_and_when(daniel: User, maya: User, card: Approval) -> None:
    post(daniel, f"/api/v1/approvals/{card.pk}/decision", decision="decline", note="No.")
    answer = post(maya, f"/api/v1/approvals/{card.pk}/decision", decision="approve")
    assert (answer.status_code, answer.json()["error"], answer.json()["by"]) == (409, "already_decided", "Daniel Reyes")
    assert datetime.fromisoformat(answer.json()["at"]).tzinfo is not None
    assert Decision.objects.count() == 1


@pytest.mark.parametrize(
    "body",
    [
        {"decision": "burn"},
        {},
        {"decision": "approve", "amount": 0},
        {"decision": "approve", "amount": "x"},
        {"decision": "approve", "amount": 12901},
        *({"decision": "approve", "amount": odd} for odd in ("129.00", "129", 129.0, True, [129], 2**60)),
        *({"decision": "approve", "units": odd} for odd in ("1.0", 1.0, 0)),
        *({"decision": "approve", "shipping": odd} for odd in ("8.00", -1, 801)),
        {"decision": "approve", "requireReturn": True},
        {"decision": "decline", "note": "No.", "amount": 100},
        {"decision": "ask_customer", "shipping": 100},
        {"decision": "decline", "note": "x" * 1001},
        {"decision": "ask_customer", "note": "x" * 501},
    ],
)
def test_a_wrong_decision_is_refused_and_nothing_happens(daniel: User, card: Approval, body: dict[str, Any]) -> None:
    answer = post(daniel, f"/api/v1/approvals/{card.pk}/decision", **body)
    card.refresh_from_db()
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_input")
    assert (card.closed_at, Decision.objects.count()) == (None, 0)


def test_what_came_back_is_recorded_once(daniel: User) -> None:
    address = f"/api/v1/requests/{with_return().uuid}/receipts"
    assert post(daniel, address).status_code == 201
    assert Receipt.objects.get().recorded_by == daniel
    again = post(daniel, address)
    assert (again.status_code, again.json()["error"]) == (409, "not_waiting_for_return")
    assert Receipt.objects.count() == 1


def test_more_units_than_asked_for_are_refused(daniel: User) -> None:
    answer = post(daniel, f"/api/v1/requests/{with_return().uuid}/receipts", units=2)
    assert (answer.status_code, answer.json()["error"], Receipt.objects.count()) == (400, "invalid_input", 0)


ADDRESSES = [
    ("get", "/api/v1/queue/needs-approval"),
    ("get", "/api/v1/queue/nowhere"),
    ("get", "/api/v1/approvals/{card}"),
    ("get", "/api/v1/approvals/nothing"),
    ("post", "/api/v1/approvals/{card}/decision"),
    ("post", "/api/v1/requests/{request}/receipts"),
    ("post", "/api/v1/requests/nothing/receipts"),
]


@pytest.mark.parametrize(("method", "address"), ADDRESSES)
def test_customers_are_refused_everywhere_alike(card: Approval, method: str, address: str) -> None:
    where = address.format(card=card.pk, request=card.request.uuid)
    answer = getattr(as_user(card.request.customer), method)(where, {"decision": "approve"}, content_type=JSON)
    assert (answer.status_code, answer.json()["error"]) == (403, "forbidden")
    assert Decision.objects.count() == 0


@pytest.mark.parametrize(("method", "address"), ADDRESSES)
def test_nobody_is_asked_to_sign_in(card: Approval, method: str, address: str) -> None:
    where = address.format(card=card.pk, request=card.request.uuid)
    answer = getattr(Client(), method)(where, content_type=JSON)
    assert (answer.status_code, answer.json()["error"]) == (401, "not_authenticated")


def test_staff_without_the_permission_may_look_and_not_act(card: Approval) -> None:
    user = onlooker()
    assert as_user(user).get(f"/api/v1/approvals/{card.pk}").status_code == 200
    refused = post(user, f"/api/v1/approvals/{card.pk}/decision", decision="approve")
    assert (refused.status_code, refused.json()["error"], Decision.objects.count()) == (403, "forbidden", 0)
    refused = post(user, f"/api/v1/requests/{with_return().uuid}/receipts")
    assert (refused.status_code, Receipt.objects.count()) == (403, 0)


@pytest.mark.parametrize("missing", ["nothing", "00000000-0000-0000-0000-000000000000"])
def test_what_is_not_there_is_not_found(daniel: User, missing: str) -> None:
    answer = as_user(daniel).get(f"/api/v1/approvals/{missing}")
    assert (answer.status_code, answer.json()["error"]) == (404, "approval_not_found")
    answer = post(daniel, f"/api/v1/approvals/{missing}/decision", decision="approve")
    assert (answer.status_code, answer.json()["error"]) == (404, "approval_not_found")
    answer = post(daniel, f"/api/v1/requests/{missing}/receipts")
    assert (answer.status_code, answer.json()["error"]) == (404, "request_not_found")
    assert as_user(daniel).get("/api/v1/queue/nowhere").status_code == 404


def test_half_a_character_in_a_decision_gets_a_sentence(daniel: User, card: Approval) -> None:
    answer = as_user(daniel).post(
        f"/api/v1/approvals/{card.pk}/decision", data='{"decision": "\\ud800"}', content_type="application/json"
    )
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_input")
    card.refresh_from_db()
    assert card.closed_at is None
