"""Payments and refunds that stand in the shop's book and at the local Stripe alike."""

from __future__ import annotations

import itertools
from typing import Any

from django.http import HttpResponse
from django.test import Client

from payments.models import Charge, ProviderEvent, Refund, RefundOutcome
from payments.providers.stripe_units import to_stripe
from tests.factories import ChargeFactory, RefundFactory
from tests.stripe_book import Json
from tests.stripe_server import StripeServer, signed

HOOK = "/webhooks/stripe"
_numbers = itertools.count(1)


def paid(server: StripeServer, captured_minor: int = 3400, *, kind: str = "pi", **charge: Any) -> Charge:
    """A payment of an order; `kind`: whether the book knows it by its payment intent (`pi`) or its charge (`ch`)."""
    reference = f"{kind}_{next(_numbers)}"
    row = ChargeFactory(provider="stripe", reference=reference, captured_minor=captured_minor, **charge)
    server.payment(reference, to_stripe(captured_minor, row.currency), row.currency.lower())
    return row


def reserved(server: StripeServer, amount_minor: int = 3400, **charge: Any) -> Refund:
    """A refund of all of a fresh payment, before Stripe is asked."""
    row = paid(server, amount_minor, **charge)
    return RefundFactory(charge=row, amount_minor=amount_minor)


def fresh(refund: Refund) -> Refund:
    return Refund.objects.select_related("charge").get(pk=refund.pk)


def held(refund: Refund) -> int:
    return Charge.objects.get(pk=refund.charge_id).reserved_minor


def outcomes(refund: Refund) -> list[tuple[str, str]]:
    return list(RefundOutcome.objects.filter(refund=refund).values_list("status", "source"))


def nothing_happened(refund: Refund) -> bool:
    return not ProviderEvent.objects.exists() and outcomes(refund) == [] and fresh(refund).status == "reserved"


def deliver(event: Json, **signing: Any) -> HttpResponse:
    """Stripe's message at our door, signed."""
    body, headers = signed(event, **signing)
    return post(body, headers["Stripe-Signature"])


def post(body: bytes, signature: str = "") -> HttpResponse:
    given = {"Stripe-Signature": signature} if signature else {}
    client = Client(enforce_csrf_checks=True)
    return client.post(HOOK, data=body, content_type="application/json", headers=given)  # type: ignore[return-value]
