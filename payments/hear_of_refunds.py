"""Looks, before money goes back, for refunds made by hand at Stripe of which no message has told this desk.

A message is lost where its payment came into the book only later, or where no webhook was set up at the time.
"""

from __future__ import annotations

import logging

from django.db import transaction
from django.db.models import F

from payments.models import Charge, Refund, RefundOutcome
from payments.providers.base import NoAnswer
from payments.providers.stripe_line import RefusedByStripe, payment_named, refunds_of
from payments.providers.stripe_refund import StripeRefund
from payments.providers.stripe_units import NotCountable
from payments.take_in_refund import PROVIDER, row_of, take_in_refund

logger = logging.getLogger(__name__)

MOST_PAYMENTS = 3


def payments_to_look_at(order_id: int, amount_minor: int) -> list[Charge]:
    """The order's payments at Stripe that hold `amount_minor` by our book, at most 3. One query, no locks."""
    holding = Charge.objects.filter(
        order_id=order_id, provider=PROVIDER, captured_minor__gte=F("reserved_minor") + amount_minor
    )
    return list(holding.order_by("captured_at", "id")[:MOST_PAYMENTS])


def hear_of_refunds(charge: Charge, amount_minor: int) -> None:
    """Writes down what went back by hand of this payment, so that nothing is paid on top of it unseen.

    Not where one of them is just this amount and no more is left: Stripe then refuses ours, and `Stripe.refund` adopts
    that one. Without an answer nothing is written: the refund itself then waits for one. Stripe is asked, so no
    transaction may be open.
    """
    payment = payment_named(charge.reference)
    if not payment:
        return
    try:
        unheard = _unheard(refunds_of(payment))
        left = charge.left_minor - sum(said.amount_minor for said in unheard)
    except (NoAnswer, RefusedByStripe, NotCountable) as error:
        logger.warning("payment %s: not known what went back of it by hand: %s", charge.reference, error)
        return
    fits = any(said.amount_minor == amount_minor and not said.key for said in unheard)
    if not unheard or (fits and left < amount_minor):
        return
    logger.warning("payment %s: %d refunds made by hand were not in the book", charge.reference, len(unheard))
    with transaction.atomic():
        for said in reversed(unheard):  # the newest last, as if each had been told when it was made
            take_in_refund(said, RefundOutcome.Source.IMPORT)


def _unheard(made: list[StripeRefund]) -> list[StripeRefund]:
    moved = [said for said in made if not said.moved_no_money]
    rows = Refund.objects.filter(provider_reference__in=[said.id for said in moved])
    known = set(rows.values_list("provider_reference", flat=True))
    return [said for said in moved if said.id not in known and row_of(said) is None]
