"""Stripe's own way of counting money, which is not ISO's for every currency."""

from __future__ import annotations

from payments.money import format_minor, minor_digits

NO_DIGITS = frozenset(
    ["BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA", "PYG", "RWF", "VND", "VUV", "XAF", "XOF", "XPF"]
)
THREE_DIGITS = frozenset(["BHD", "JOD", "KWD", "OMR", "TND"])
# Stripe's documents count Ugandan shillings in two ways, one a hundred times the other.
UNSAFE = frozenset({"UGX"})
# Stripe's card networks take three decimals only when the last one is 0.
THREE_DIGITS_STEP = 10


class NotCountable(ValueError):
    """The amount cannot be said in Stripe's units; the message can end a sentence for people."""


def to_stripe(amount_minor: int, currency: str) -> int:
    """Our minor units in Stripe's: USD 3400 -> 3400, JPY 3400 -> 3400, KWD 3400 -> 3400, ISK 34 -> 3400.

    Raises NotCountable for an amount or a currency that Stripe does not take.
    """
    _check_currency(currency)
    amount = _rescale(amount_minor, minor_digits(currency), _digits(currency), currency)
    if currency in THREE_DIGITS and amount % THREE_DIGITS_STEP:
        below = amount - amount % THREE_DIGITS_STEP
        near = " or ".join(format_minor(each, currency) for each in (below, below + THREE_DIGITS_STEP) if each)
        said = format_minor(amount_minor, currency)
        raise NotCountable(f"Stripe sends {currency} only with a 0 as the third decimal, so {near} but not {said}")
    return amount


def from_stripe(amount: int, currency: str) -> int:
    """Stripe's units in our minor units. Raises NotCountable."""
    _check_currency(currency)
    return _rescale(amount, _digits(currency), minor_digits(currency), currency)


def _check_currency(currency: str) -> None:
    if currency in UNSAFE:
        raise NotCountable(f"{currency} cannot be sent through Stripe from here; make this refund in its dashboard")


def _digits(currency: str) -> int:
    if currency in NO_DIGITS:
        return 0
    return 3 if currency in THREE_DIGITS else 2


def _rescale(amount: int, digits: int, wanted: int, currency: str) -> int:
    if wanted >= digits:
        return amount * 10 ** (wanted - digits)
    whole, rest = divmod(amount, 10 ** (digits - wanted))
    if rest:
        raise NotCountable(f"{amount} in Stripe's way of counting is no whole amount of {currency}")
    return whole
