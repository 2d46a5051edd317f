"""What the shop needs from whoever moves the money. Each call of a provider takes at most CALL_MAX_SECONDS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True)
class RefundOrder:
    """One refund to make. `key` is the idempotency key: the same key always means the same refund.

    `amount_minor` is in minor units of `currency`; `charge_reference` names the charge at the provider, `reference`
    the refund at the shop, `provider_reference` the refund at the provider once that is known.
    """

    key: str
    charge_reference: str
    amount_minor: int
    currency: str
    reference: str = ""
    provider_reference: str = ""


@dataclass(frozen=True)
class ProviderAnswer:
    """What the provider says of a refund.

    `reason` is the bank's, in words that can end a sentence: why it failed, or why it has not been sent yet.
    `provider_reference` is empty when the provider made no refund.
    """

    status: Literal["pending", "succeeded", "failed"]
    provider_reference: str
    reason: str = ""


class NoAnswer(Exception):
    """It is not known whether the provider did it (a time-out, a broken line): look it up before asking again."""


class RefundProvider(Protocol):
    def refund(self, order: RefundOrder) -> ProviderAnswer:
        """Gives the money back; a second call with the same key answers about the first. Raises NoAnswer."""

    def look_up(self, order: RefundOrder) -> ProviderAnswer | None:
        """What became of the order's key; None: the provider never took it. Raises NoAnswer."""
