"""The cases of the scenario files, and the local Stripe, as the tests of payments have them."""

from __future__ import annotations

from tests.payments.conftest import stripe_server
from tests.payments.scenarios import case

__all__ = ["case", "stripe_server"]
