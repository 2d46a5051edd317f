"""A refund as Stripe writes it, in an answer or in a message, and what its words mean to the shop."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, field_validator

from payments.models import NEEDS_THE_CUSTOMER
from payments.providers.base import ProviderAnswer
from payments.providers.stripe_units import from_stripe

# What we write on each refund of ours, so that it is found again when Stripe's answer was lost.
KEY_IN_METADATA = "refund_key"
REFERENCE_IN_METADATA = "refund_reference"

FAILURES = {
    "lost_or_stolen_card": "the card was reported lost or stolen",
    "expired_or_canceled_card": "the card has expired or was canceled",
    "charge_for_pending_refund_disputed": "the customer disputed the payment while the refund was on its way",
    "insufficient_funds": "there was not enough money in the shop's account at the provider",
    "declined": "the customer's bank declined it",
    "merchant_request": "it was stopped from the shop's side",
    "unknown": "the bank gave no reason",
}
WAITS = {
    "charge_pending": "the payment itself is not through yet",
    "insufficient_funds": "there is not enough money in the shop's account at the provider",
    "processing": "the provider is working on it",
}
CANCELED = "canceled"


# What a message may hold: signed is not the same as sane, and a row that no page can show helps nobody.
ID = r"^[A-Za-z0-9_]{1,100}$"
MOST_AMOUNT = 2**53
EARLIEST, LATEST = datetime(2005, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


class StripeRefund(BaseModel):
    """`amount` is in Stripe's units of the lower-case `currency`; `charge` and `payment_intent` are ids or empty."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str = Field(pattern=ID)
    amount: int = Field(gt=0, le=MOST_AMOUNT)
    currency: str = Field(pattern=r"^[A-Za-z]{3}$")
    created: AwareDatetime = Field(ge=EARLIEST, le=LATEST)
    charge: str = ""
    payment_intent: str = ""
    status: str = ""
    failure_reason: str = ""
    pending_reason: str = ""
    metadata: dict[str, str] = Field(default_factory=dict)

    @field_validator("charge", "payment_intent", mode="before")
    @classmethod
    def _id_of_what_may_be_expanded(cls, value: Any) -> Any:
        return value.get("id") if isinstance(value, Mapping) else value or ""

    @field_validator("status", "failure_reason", "pending_reason", mode="before")
    @classmethod
    def _nothing_is_empty(cls, value: Any) -> Any:
        """Without what no database stores."""
        return value.replace("\x00", "") if isinstance(value, str) else value or ""

    @field_validator("metadata", mode="before")
    @classmethod
    def _no_metadata_is_empty(cls, value: Any) -> Any:
        return value or {}

    @property
    def key(self) -> str:
        """Our idempotency key, if the refund is one of ours."""
        return self.metadata.get(KEY_IN_METADATA, "")

    @property
    def iso_currency(self) -> str:
        return self.currency.upper()

    @property
    def amount_minor(self) -> int:
        """In our minor units. Raises NotCountable."""
        return from_stripe(self.amount, self.iso_currency)

    @property
    def moved_no_money(self) -> bool:
        return self.status in ("failed", CANCELED)

    def is_of(self, payment: str) -> bool:
        """Whether it gives back `payment`, named by its payment intent or its charge."""
        return bool(payment) and payment in (self.charge, self.payment_intent)

    def as_answer(self) -> ProviderAnswer:
        """A status we do not know counts as on its way: only Stripe's own word says that the money is through."""
        if self.status == "succeeded":
            return ProviderAnswer("succeeded", self.id)
        if self.status == CANCELED:
            return ProviderAnswer("failed", self.id, CANCELED)
        if self.status == "failed":
            return ProviderAnswer("failed", self.id, in_words(self.failure_reason, FAILURES, FAILURES["unknown"]))
        if self.status == "requires_action":
            return ProviderAnswer("pending", self.id, NEEDS_THE_CUSTOMER)
        return ProviderAnswer("pending", self.id, in_words(self.pending_reason, WAITS, ""))


def in_words(code: str, words: Mapping[str, str], otherwise: str) -> str:
    """`bank_account_closed` -> "bank account closed" when it is none of the known codes."""
    return words.get(code) or code.replace("_", " ")[:120] or otherwise
