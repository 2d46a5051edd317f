"""Reserves money for a refund: the row with its idempotency key, before any provider is asked."""

from __future__ import annotations

import secrets
import uuid

from django.db import transaction
from django.db.models import F

from payments.balance import shipping_left
from payments.models import LIVE_REFUND_STATUSES, Charge, Refund


class NoChargeHolds(Exception):
    """No single charge of the order holds enough; the fullest has `largest_left_minor` left."""

    def __init__(self, largest_left_minor: int) -> None:
        super().__init__(f"the fullest charge has {largest_left_minor} left")
        self.largest_left_minor = largest_left_minor


class AbovePrice(Exception):
    """More than the units cost (`most_minor`), by what was paid for their line."""

    def __init__(self, most_minor: int) -> None:
        super().__init__(f"these units cost {most_minor}")
        self.most_minor = most_minor


class ShippingAlreadyBack(Exception):
    """More shipping than the order has left to give back (`left_minor`)."""

    def __init__(self, left_minor: int) -> None:
        super().__init__(f"{left_minor} of shipping are left")
        self.left_minor = left_minor


class RefundInFlight(Exception):
    """The request has a live refund; only a failed one may be followed by another attempt."""


CANNOT_BE_PAID = (NoChargeHolds, AbovePrice, ShippingAlreadyBack, RefundInFlight)


def issue_refund(
    *,
    order_id: int,
    line_id: int | None,
    request_uuid: uuid.UUID,
    run_uuid: uuid.UUID | None,
    units: int,
    amount_minor: int,
    shipping_minor: int = 0,
    currency: str,
    automatic: bool,
) -> Refund:
    """Reserves `amount_minor` (shipping included) on the first charge of the order that holds it.

    Belongs into the caller's transaction: the order's charges stay locked until its end. Raises NoChargeHolds,
    ShippingAlreadyBack or RefundInFlight before anything is written.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("A refund is reserved inside the transaction that moves its request.")
    charge = _lock_charge_that_holds(order_id, currency, amount_minor)
    if shipping_minor > 0:
        _check_shipping(order_id, shipping_minor)
    attempt = _next_attempt(request_uuid)
    Charge.objects.filter(pk=charge.pk).update(reserved_minor=F("reserved_minor") + amount_minor)
    return Refund.objects.create(
        charge=charge,
        line_id=line_id,
        request_uuid=request_uuid,
        run_uuid=run_uuid,
        attempt=attempt,
        key=f"refund_{request_uuid}" if attempt == 1 else f"refund_{request_uuid}_{attempt}",
        reference=f"re_{secrets.token_hex(9)}",
        currency=currency,
        amount_minor=amount_minor,
        shipping_minor=shipping_minor,
        units=units,
        automatic=automatic,
        card_brand=charge.card_brand,
        card_last4=charge.card_last4,
    )


def _lock_charge_that_holds(order_id: int, currency: str, amount_minor: int) -> Charge:
    """Locks all charges of the order, always in the same sequence, so that two refunds of it come one after another."""
    charges = list(
        Charge.objects.select_for_update(no_key=True)
        .filter(order_id=order_id, currency=currency)
        .order_by("captured_at", "id")
    )
    for charge in charges:
        if charge.left_minor >= amount_minor:
            return charge
    raise NoChargeHolds(max((charge.left_minor for charge in charges), default=0))


def _check_shipping(order_id: int, shipping_minor: int) -> None:
    left = shipping_left(order_id)
    if shipping_minor > left:
        raise ShippingAlreadyBack(left)


def _next_attempt(request_uuid: uuid.UUID) -> int:
    earlier = list(Refund.objects.filter(request_uuid=request_uuid).values_list("attempt", "status"))
    if any(status in LIVE_REFUND_STATUSES for _, status in earlier):
        raise RefundInFlight(f"request {request_uuid} has a live refund")
    return max((attempt for attempt, _ in earlier), default=0) + 1
