"""Money as integers in the currency's minor unit (cents, yen, fils). The one place that formats and parses amounts."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal

from babel.numbers import format_currency, get_currency_symbol

LOCALE = "en_US"
# ISO 4217: the currencies that have not two decimals.
NO_DECIMALS = re.compile("BIF|CLP|DJF|GNF|ISK|JPY|KMF|KRW|PYG|RWF|UGX|UYI|VND|VUV|XAF|XOF|XPF")
THREE_DECIMALS = re.compile("BHD|IQD|JOD|KWD|LYD|OMR|TND")
FOUR_DECIMALS = re.compile("CLF|UYW")
# A comma stands before groups of three only: who writes “0,50” for half a dollar must not be understood as fifty.
AMOUNT = re.compile(
    r"(?P<minus>-?)(?P<sign>[^\d\s.,+_-]{0,4})\s?(?P<whole>[0-9]{1,3}(?:,[0-9]{3}){1,5}|[0-9]{1,18})(?P<rest>\.[0-9]{0,10})?"
)


def minor_digits(currency: str) -> int:
    """How many decimals the currency has by ISO 4217: 2 for USD, 0 for JPY, 3 for KWD.

    Not Babel's numbers: those say how many are shown in everyday life (none for HUF), and stored amounts must not
    change their meaning when they do.
    """
    for digits, currencies in ((0, NO_DECIMALS), (3, THREE_DECIMALS), (4, FOUR_DECIMALS)):
        if currencies.fullmatch(currency):
            return digits
    return 2


def format_minor(amount_minor: int, currency: str) -> str:
    """`3400, "USD"` -> `$34.00`; `3400, "JPY"` -> `¥3,400`."""
    digits = minor_digits(currency)
    pattern = f"¤#,##0.{'0' * digits}" if digits else "¤#,##0"
    amount = to_decimal(amount_minor, currency)
    return format_currency(amount, currency, format=pattern, locale=LOCALE, currency_digits=False)


def to_decimal(amount_minor: int, currency: str) -> Decimal:
    return Decimal(amount_minor).scaleb(-minor_digits(currency))


def parse_amount(text: str, currency: str) -> int:
    """What a person typed (`34`, `34.00`, `$1,234.50`) as minor units.

    Raises ValueError with a sentence for people when it is no amount above zero with at most the currency's decimals.
    """
    digits = minor_digits(currency)
    example = format_minor(3400 if digits == 2 else 34 * 10**digits, currency)
    written = AMOUNT.fullmatch(text.strip())
    if written is None or written["sign"].upper() not in ("", currency, _symbol(currency)):
        raise ValueError(f"“{text[:40]}” is not an amount. Write it like {example}.")
    amount = Decimal(written["minus"] + written["whole"].replace(",", "") + (written["rest"] or ""))
    if amount <= 0:
        raise ValueError(f"The amount must be above zero, like {example}.")
    # Also when they are zeros: whoever writes “1.000” for a thousand yen must not be understood as one.
    if len((written["rest"] or ".")[1:]) > digits:
        most = f"at most {digits}" if digits else "no"
        raise ValueError(f"{currency} amounts have {most} decimals, like {example}.")
    minor = amount.scaleb(digits)
    if minor > 2**53:
        raise ValueError("That amount is too large.")
    return int(minor)


def _symbol(currency: str) -> str:
    return str(get_currency_symbol(currency, locale=LOCALE)).upper()


def share_of_paid(paid_minor: int, quantity: int, units: int, units_before: int) -> int:
    """The price of `units` of a line of `quantity` units paid with `paid_minor`, after `units_before` were asked for.

    It is the difference of two running totals, each rounded half up, so that one by one and all at once give the
    same sum to the cent: `paid_minor` when every unit has been asked for.
    """
    if not 0 < units <= quantity - units_before or units_before < 0:
        raise ValueError("The units asked for are not left on this line.")
    return _running_total(paid_minor, quantity, units_before + units) - _running_total(
        paid_minor, quantity, units_before
    )


def _running_total(paid_minor: int, quantity: int, units: int) -> int:
    return int((Decimal(paid_minor) * units / quantity).quantize(Decimal(1), rounding=ROUND_HALF_UP))
