"""What Stripe says of one refund, taken into the shop's book, whoever made the refund."""

from __future__ import annotations

import logging
import secrets

from payments.models import Charge, Refund, RefundOutcome
from payments.money import format_minor
from payments.providers.stripe_refund import StripeRefund
from payments.providers.stripe_units import NotCountable
from payments.recount_charge import recount_charge
from payments.settle_refund import FINAL, record_outcome

logger = logging.getLogger(__name__)
PROVIDER = "stripe"
NOTHING = "nothing: "


def charge_of(*references: str) -> Charge | None:
    """The charge whose payment Stripe calls by one of these names."""
    named = [reference for reference in references if reference]
    return Charge.objects.filter(provider=PROVIDER, reference__in=named).first()


def take_in_refund(said: StripeRefund, source: str) -> str:
    """Records the news of a refund we know, or writes a row for one made elsewhere; returns what came of it, behind
    NOTHING when it could not be taken.

    Belongs into the caller's transaction. `source` as in `RefundOutcome.Source`. The same news again, or older news
    than what is known, changes nothing.
    """
    charge = charge_of(said.payment_intent, said.charge)
    if charge is None:
        return f"{NOTHING}the payment is not in this shop's book"
    charge = Charge.objects.select_for_update(no_key=True).get(pk=charge.pk)
    refund = row_of(said)
    if refund is None:
        return _write_row(said, charge, source)
    if not same_amount(said, refund):
        logger.warning("refund %s: a message names another amount than the book", refund.reference)
        return f"{NOTHING}the book has another amount for refund {refund.reference}; see `manage.py reconcile`"
    answer = said.as_answer()
    after = record_outcome(
        refund.pk, status=answer.status, reason=answer.reason, provider_reference=said.id, source=source
    )
    if after.status != answer.status:
        return f"{NOTHING}refund {refund.reference} is {after.status}, “{answer.status}” changes nothing"
    if after.status != refund.status:
        return f"refund {refund.reference}: {refund.status} -> {after.status}"
    return "known" if after.pending_reason == refund.pending_reason else f"refund {refund.reference} waits otherwise"


def row_of(said: StripeRefund) -> Refund | None:
    """The row of this refund: by Stripe's name for it, or by our key on it while our own answer is not saved yet."""
    known = Refund.objects.filter(provider_reference=said.id).first()
    if known is not None or not said.key:
        return known
    ours = Refund.objects.select_related("charge").filter(key=said.key, provider_reference=None).first()
    return ours if ours is not None and said.is_of(ours.charge.reference) and same_amount(said, ours) else None


def same_amount(said: StripeRefund, refund: Refund) -> bool:
    try:
        return (said.iso_currency, said.amount_minor) == (refund.currency, refund.amount_minor)
    except NotCountable:
        return False


def _write_row(said: StripeRefund, charge: Charge, source: str) -> str:
    """A refund made elsewhere (in the dashboard, as a rule) counts against its charge and closes no request."""
    if said.iso_currency != charge.currency:
        return f"{NOTHING}{said.id} is in {said.iso_currency}, its payment in {charge.currency}"
    try:
        amount_minor = said.amount_minor
    except NotCountable as error:
        return f"{NOTHING}{error}"
    answer = said.as_answer()
    refund = Refund.objects.create(
        charge=charge,
        key=f"external_{said.id}",
        reference=f"re_{secrets.token_hex(9)}",
        provider_reference=said.id,
        currency=charge.currency,
        amount_minor=amount_minor,
        status=answer.status,
        failure_reason=answer.reason if answer.status == Refund.Status.FAILED else "",
        pending_reason=answer.reason if answer.status == Refund.Status.PENDING else "",
        card_brand=charge.card_brand,
        card_last4=charge.card_last4,
        reserved_at=said.created,
        asked_at=said.created,
        settled_at=said.created if answer.status in FINAL else None,
    )
    RefundOutcome.objects.create(refund=refund, status=answer.status, reason=answer.reason, source=source)
    return f"made elsewhere, written down as {refund.reference}{_passes(refund)}"


def _passes(refund: Refund) -> str:
    over = recount_charge(refund.charge_id)
    if not over:
        return ""
    amount = format_minor(over, refund.currency)
    logger.warning("refund %s: %s more went back than its payment took", refund.reference, amount)
    return f"; with it {amount} more went back than the payment took"
