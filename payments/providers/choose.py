"""Finds the provider that took a charge: money goes back the way it came."""

from __future__ import annotations

from django.core.exceptions import ImproperlyConfigured

from payments.providers.base import RefundProvider
from payments.providers.ledger import Ledger
from payments.providers.stripe import Stripe

PROVIDERS: dict[str, RefundProvider] = {"ledger": Ledger(), "stripe": Stripe()}


def provider_named(name: str) -> RefundProvider:
    """Raises ImproperlyConfigured for a name this installation does not know."""
    try:
        return PROVIDERS[name]
    except KeyError:
        known = ", ".join(sorted(PROVIDERS))
        raise ImproperlyConfigured(f"There is no payment provider “{name}”; known are: {known}.") from None
