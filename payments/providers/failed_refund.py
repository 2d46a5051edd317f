"""Who kept a failed refund from going through, told from what its row stores of the provider's answer."""

from __future__ import annotations

from payments.models import Refund
from payments.providers.stripe_refund import CANCELED, FAILURES

# Failures of a refund that the provider did make, and which are no refusal of the customer's bank.
NOT_THE_BANKS = frozenset(
    {
        CANCELED,
        FAILURES["charge_for_pending_refund_disputed"],
        FAILURES["insufficient_funds"],
        FAILURES["merchant_request"],
    }
)


def refused_by_bank(refund: Refund) -> bool:
    """Whether the bank itself did not take this failed refund. One that the provider never made came to no bank: the
    money may have gone back by hand, be disputed, or not be to be asked for in this way."""
    return bool(refund.provider_reference) and refund.failure_reason not in NOT_THE_BANKS
