"""What is said of a refund that failed: only of the bank's own refusal is it known that no money came."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from intake.models import RefundRequest
from payments.models import Charge
from tests.agent.work_off import open_card, told, work_off
from tests.behind_the_book import behind_the_book
from tests.payments.desk_at_stripe import approve, page_of, waiting_card
from tests.payments.stripe_rows import deliver
from tests.stripe_book import Stumble
from tests.stripe_server import StripeServer

pytestmark = pytest.mark.django_db
NO_MONEY_CAME = (
    "The bank did not take it, so the money has not reached you. A person in our team is looking for another way; you "
    "read here how it goes on, within one business day."
)
NEUTRAL = (
    "We could not send it this way. A person in our team is looking at it; you read here how it goes on, within one "
    "business day."
)


def refused(code: str, message: str) -> Stumble:
    return Stumble(status=400, body={"error": {"type": "invalid_request_error", "code": code, "message": message}})


def given_back_by_hand(server: StripeServer) -> None:
    reference = Charge.objects.get().reference
    server.by_hand(reference, 2000)
    server.by_hand(reference, 1400)


def partly_given_back_by_hand(server: StripeServer) -> None:
    server.by_hand(Charge.objects.get().reference, 2000)


def disputed(server: StripeServer) -> None:
    server.stumbles.append(refused("charge_disputed", "Charge has been charged back."))


def not_known(server: StripeServer) -> None:
    server.payments.clear()


def not_asked_for(server: StripeServer) -> None:
    behind_the_book(Charge).update(reference="book_7")


def said_in_full(request: RefundRequest) -> tuple[str, str]:
    """The customer's title and text, the same in the timeline, on the page and in the API, which claim no more."""
    step = request.steps.get(message_key="refund_did_not_go_through")
    client = Client()
    client.force_login(request.customer)
    steps = client.get(f"/api/v1/requests/{request.uuid}").json()["steps"]
    assert (step.title, step.detail) in [(each["title"], each["detail"]) for each in steps]
    page = page_of(request)
    assert step.title in page
    assert step.detail in page
    assert "not reached you" not in page
    return step.title, step.detail


def staff_read(request: RefundRequest) -> tuple[str, str]:
    """The concern on the card, and the title of the step."""
    return open_card(request).concerns[0]["text"], request.steps.get(kind="error").title


@pytest.mark.parametrize(
    ("happens", "why"),
    [
        (given_back_by_hand, "the payment has been given back already, by a refund made outside this desk"),
        (
            partly_given_back_by_hand,
            "less than this is left of the payment, because of refunds made outside this desk",
        ),
        (disputed, "the customer has disputed the payment with the bank, which decides about the money now"),
        (not_known, "the provider does not know the payment"),
        (not_asked_for, "“book_7” names no payment at Stripe"),
    ],
)
@pytest.mark.usefixtures("at_the_last_moment")
def test_what_no_bank_was_asked_for_is_not_said_to_be_refused_by_one(
    stripe_server: StripeServer, happens: Any, why: str
) -> None:
    card = waiting_card(stripe_server)
    happens(stripe_server)
    request = approve(card)
    assert request.status == "needs_approval"
    assert said_in_full(request) == ("Your refund of $34.00 to your Visa ending 4242 did not go through", NEUTRAL)
    title = "The refund of $34.00 did not go through"
    assert staff_read(request) == (f"{title}: {why}.", title)


@pytest.mark.parametrize(
    ("status", "reason", "why", "by_bank"),
    [
        ("failed", "declined", "the customer's bank declined it", True),
        ("failed", "lost_or_stolen_card", "the card was reported lost or stolen", True),
        ("failed", "expired_or_canceled_card", "the card has expired or was canceled", True),
        ("failed", "bank_account_closed", "bank account closed", True),
        ("failed", "unknown", "the bank gave no reason", True),
        ("failed", "", "the bank gave no reason", True),
        ("failed", "insufficient_funds", "there was not enough money in the shop's account at the provider", False),
        ("failed", "merchant_request", "it was stopped from the shop's side", False),
        (
            "failed",
            "charge_for_pending_refund_disputed",
            "the customer disputed the payment while the refund was on its way",
            False,
        ),
        ("canceled", "", "canceled", False),
    ],
)
@pytest.mark.parametrize("late", [False, True])
def test_only_the_banks_own_refusal_says_that_no_money_came(
    stripe_server: StripeServer, status: str, reason: str, why: str, by_bank: bool, late: bool
) -> None:
    stripe_server.becomes = {"status": "succeeded" if late else "pending"}
    request = approve(waiting_card(stripe_server))
    about = stripe_server.turn(stripe_server.refunds[0]["id"], status, failure_reason=reason or None)
    deliver(stripe_server.event("refund.updated", about))
    request = work_off(request)
    assert told(request) == ["refunded" if late else "on_its_way", "refund_did_not_go_through"]
    words = request.steps.get(message_key="refund_did_not_go_through")
    assert words.detail == (NO_MONEY_CAME if by_bank else NEUTRAL)
    title = "The bank refused the refund of $34.00" if by_bank else "The refund of $34.00 did not go through"
    after = f" after {'it' if by_bank else 'the provider'} had said it was through" if late else ""
    assert staff_read(request) == (f"{title}{after}: {why}.", title)
