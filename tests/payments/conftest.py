from __future__ import annotations

import pytest

from payments.providers.choose import PROVIDERS
from tests.fake_bank import FakeBank


@pytest.fixture
def bank(monkeypatch: pytest.MonkeyPatch) -> FakeBank:
    """Charges with `provider="bank"` are refunded by it."""
    fake = FakeBank()
    monkeypatch.setitem(PROVIDERS, "bank", fake)
    return fake
