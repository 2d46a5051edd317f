from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from payments.providers.choose import PROVIDERS
from tests.fake_bank import FakeBank
from tests.payments.scenarios import case
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
