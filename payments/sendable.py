"""Whether the provider that would pay can send an amount at all: asked before a person decides on it."""

from __future__ import annotations

from django.db.models import F

from payments.models import Charge
from payments.providers.stripe_units import NotCountable, to_stripe
from payments.take_in_refund import PROVIDER as STRIPE


def why_not_sendable(order_id: int, amount_minor: int, currency: str) -> str:
    """The end of a sentence on why the charge that `issue_refund` would choose cannot send it; empty when it can, or
    when no charge holds the amount."""
    holding = Charge.objects.filter(
        order_id=order_id, currency=currency, captured_minor__gte=F("reserved_minor") + amount_minor
    )
    charge = holding.order_by("captured_at", "id").first()
    if charge is None or charge.provider != STRIPE:
        return ""
    try:
        to_stripe(amount_minor, currency)
    except NotCountable as error:
        return str(error)
    return ""
