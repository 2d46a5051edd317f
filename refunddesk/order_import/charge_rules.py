"""Which charges may come in: a refund must be able to go back the way the money came."""

from __future__ import annotations

from django.conf import settings

from payments.providers.choose import PROVIDERS
from payments.providers.stripe_line import payment_named
from payments.take_in_refund import PROVIDER as STRIPE
from refunddesk.order_import.given import GivenCharge, GivenOrder
from refunddesk.order_import.refused import Refused

LEDGER = "ledger"
MOVES_NOTHING = (
    "ledger is the shop's own book: a refund of this charge is written down and moves no money. Name the provider that "
    "took it, or add --ledger-is-real if nobody did."
)


def check_charges(order: GivenOrder, *, ledger_is_real: bool) -> None:
    """Raises Refused."""
    for place, charge in enumerate(order.charges):
        _check(charge, f"charges[{place}]", ledger_is_real=ledger_is_real or settings.DEMO)


def _check(charge: GivenCharge, where: str, *, ledger_is_real: bool) -> None:
    if charge.provider not in PROVIDERS:
        known = ", ".join(sorted(PROVIDERS))
        raise Refused(f"{where}.provider", f"“{charge.provider}” is not known here. Known are: {known}.")
    at_stripe = bool(payment_named(charge.reference))
    if charge.provider == STRIPE and not at_stripe:
        sentence = f"“{charge.reference}” names no payment at Stripe; those begin with pi_, ch_ or py_."
        raise Refused(f"{where}.reference", sentence)
    if charge.provider != LEDGER:
        return
    if not ledger_is_real:
        raise Refused(f"{where}.provider", MOVES_NOTHING)
    if at_stripe and not settings.DEMO:
        raise Refused(f"{where}.provider", f"{charge.reference} is a payment at Stripe: its provider is {STRIPE}.")
