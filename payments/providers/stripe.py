"""Refunds through Stripe. Each carries our key in its metadata, so that it is found when Stripe's answer was lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from payments.models import Refund
from payments.providers import stripe_line as line
from payments.providers.base import NoAnswer, ProviderAnswer, RefundOrder
from payments.providers.stripe_line import RefusedByStripe
from payments.providers.stripe_refund import KEY_IN_METADATA, REFERENCE_IN_METADATA, StripeRefund
from payments.providers.stripe_units import NotCountable, to_stripe

ALREADY_REFUNDED = "charge_already_refunded"
TOO_LARGE = "amount_too_large"
REFUSALS = {
    ALREADY_REFUNDED: "the payment has been given back already, by a refund made outside this desk",
    TOO_LARGE: "less than this is left of the payment, because of refunds made outside this desk",
    "charge_disputed": "the customer has disputed the payment with the bank, which decides about the money now",
    "resource_missing": "the provider does not know the payment",
}


class Stripe:
    """The provider of charges whose reference is a payment intent (`pi_`) or a charge (`ch_`) at Stripe."""

    def refund(self, order: RefundOrder) -> ProviderAnswer:
        payment = line.payment_named(order.charge_reference)
        if not payment:
            return _refused(f"“{order.charge_reference}” names no payment at Stripe")
        try:
            amount = to_stripe(order.amount_minor, order.currency)
        except NotCountable as error:
            return _refused(str(error))
        metadata = {KEY_IN_METADATA: order.key, REFERENCE_IN_METADATA: order.reference}
        try:
            return line.create_refund(payment, amount=amount, metadata=metadata, key=order.key).as_answer()
        except RefusedByStripe as refused:
            if _money_is_gone(refused):
                return self._adopt_or_refuse(order, amount, refused)
            return _refused(_in_words(refused))

    def look_up(self, order: RefundOrder) -> ProviderAnswer | None:
        payment = line.payment_named(order.charge_reference)
        if not payment:
            return None
        with _looking():
            if order.provider_reference:
                return line.retrieve_refund(order.provider_reference).as_answer()
            found = with_key(line.refunds_of(payment), order.key)
        return found.as_answer() if found else None

    def _adopt_or_refuse(self, order: RefundOrder, amount: int, refused: RefusedByStripe) -> ProviderAnswer:
        """One look at what was given back already: our own refund, or one by hand that fits and that no row knows."""
        with _looking():
            made = line.refunds_of(line.payment_named(order.charge_reference))
        ours = with_key(made, order.key)
        if ours is not None:
            return ours.as_answer()
        fitting = [each for each in made if not each.key and not each.moved_no_money and each.amount == amount]
        known = set(
            Refund.objects.filter(provider_reference__in=[each.id for each in fitting]).values_list(
                "provider_reference", flat=True
            )
        )
        unknown = [each for each in fitting if each.id not in known]
        return unknown[-1].as_answer() if unknown else _refused(_in_words(refused))


def with_key(refunds: Iterable[StripeRefund], key: str) -> StripeRefund | None:
    """The refund with our key; of several, one that moved money."""
    ours = sorted((each for each in refunds if each.key == key), key=lambda each: each.moved_no_money)
    return ours[0] if ours else None


@contextmanager
def _looking() -> Iterator[None]:
    """That Stripe cannot find something (with another account's key, say) does not mean that it was never made."""
    try:
        yield
    except RefusedByStripe as refused:
        raise NoAnswer(f"Stripe does not let us look: {refused.message}") from refused


def _money_is_gone(refused: RefusedByStripe) -> bool:
    """Stripe names the amount only when it does not fit what is left of the payment."""
    return refused.code in (ALREADY_REFUNDED, TOO_LARGE) or refused.param == "amount"


def _in_words(refused: RefusedByStripe) -> str:
    if refused.code in REFUSALS:
        return REFUSALS[refused.code]
    if refused.param == "amount":
        return REFUSALS[TOO_LARGE]
    return f"the provider says “{refused.message[:140].rstrip('.')}”"


def _refused(reason: str) -> ProviderAnswer:
    return ProviderAnswer("failed", provider_reference="", reason=reason)
