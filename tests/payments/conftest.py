from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from payments.models import Refund
from payments.providers.choose import PROVIDERS
from tests.fake_bank import FakeBank
from tests.payments.scenarios import case
from tests.payments.stripe_rows import reserved
from tests.stripe_book import Json
from tests.stripe_server import SECRET_KEY, WEBHOOK_SECRET, StripeServer

__all__ = ["case"]


@pytest.fixture
def bank(monkeypatch: pytest.MonkeyPatch) -> FakeBank:
    """Charges with `provider="bank"` are refunded by it."""
    fake = FakeBank()
    monkeypatch.setitem(PROVIDERS, "bank", fake)
    return fake


@pytest.fixture
def stripe_server(settings: Any) -> Iterator[StripeServer]:
    """Charges with `provider="stripe"` are refunded by it, through the real SDK; it is silent for a second at most."""
    with StripeServer() as server:
        settings.STRIPE_API_BASE = server.url
        settings.STRIPE_SECRET_KEY = SECRET_KEY
        settings.STRIPE_WEBHOOK_SECRET = WEBHOOK_SECRET
        settings.CALL_MAX_SECONDS = 3
        yield server


@pytest.fixture
def refund(stripe_server: StripeServer) -> Refund:
    """Known to Stripe, and our own answer about it was lost."""
    row = reserved(stripe_server)
    stripe_server.by_hand(row.charge.reference, 3400, metadata={"refund_key": row.key})
    return row


@pytest.fixture
def event(stripe_server: StripeServer, refund: Refund) -> Json:
    return stripe_server.event("refund.created", stripe_server.refunds[0])


@pytest.fixture
def at_the_last_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is refunded by hand comes between the desk's look for such refunds and its own."""
    monkeypatch.setattr("agent.hear_before_paying.hear_of_refunds", lambda charge, amount_minor: None)
