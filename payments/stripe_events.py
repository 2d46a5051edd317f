"""Stripe's messages: each is stored once, and what it says about refunds is taken in by the same transaction."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Sum
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from payments.models import LIVE_REFUND_STATUSES, Charge, ProviderEvent, Refund, RefundOutcome
from payments.providers.stripe_line import payment_named, refunds_of, retrieve_refund
from payments.providers.stripe_refund import EARLIEST, ID, LATEST, StripeRefund
from payments.providers.stripe_units import NotCountable, from_stripe
from payments.take_in_refund import PROVIDER, charge_of, row_of, take_in_refund

logger = logging.getLogger(__name__)
REFUND_KINDS = frozenset({"refund.created", "refund.updated", "refund.failed", "charge.refund.updated"})
CHARGE_REFUNDED = "charge.refunded"
EFFECT_LENGTH = 200


class StripeEvent(BaseModel):
    """A message as signed; `data["object"]` is what it is about, as it was when the message was made."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str = Field(pattern=ID)
    type: str = Field(pattern=r"^[a-z0-9_.]{1,80}$")
    created: AwareDatetime = Field(ge=EARLIEST, le=LATEST)
    data: dict[str, Any] = Field(default_factory=dict)

    @property
    def about(self) -> Mapping[str, Any]:
        about = self.data.get("object")
        return about if isinstance(about, dict) else {}


def take_event(event: StripeEvent) -> bool:
    """False: the message was taken before, and nothing happened. Raises NoAnswer or RefusedByStripe when Stripe has to
    be asked for the refunds of a charge and does not say; then nothing is stored, and the message may come again.
    """
    if ProviderEvent.objects.filter(provider=PROVIDER, event_id=event.id).exists():
        return False
    refunds, remark = _refunds_in(event)
    with transaction.atomic():
        stored = _store(event)
        if stored is None:
            return False
        effects = [take_in_refund(refund, RefundOutcome.Source.WEBHOOK) for refund in refunds]
        stored.effect = "; ".join(effects or [remark])[:EFFECT_LENGTH]
        stored.save(update_fields=["effect"])
    logger.info("stripe %s %s: %s", event.type, event.id, stored.effect)
    return True


def _store(event: StripeEvent) -> ProviderEvent | None:
    """None: another transaction has stored it. The constraint is asked, not a query before it."""
    try:
        with transaction.atomic():
            return ProviderEvent.objects.create(
                provider=PROVIDER, event_id=event.id, kind=event.type, said_at=event.created
            )
    except IntegrityError:
        return None


def _refunds_in(event: StripeEvent) -> tuple[list[StripeRefund], str]:
    """The refunds the message is about, and what to note when there is none."""
    if event.type in REFUND_KINDS:
        refund = _read(event.about)
        return ([_as_it_is(refund)], "") if refund else ([], "nothing: no refund that can be read is in it")
    if event.type == CHARGE_REFUNDED:
        return _refunds_of_charge(event.about)
    return [], "nothing: not a kind of message this desk uses"


def _refunds_of_charge(about: Mapping[str, Any]) -> tuple[list[StripeRefund], str]:
    """Newer versions of Stripe leave the refunds out of a charge: they are asked for if its sum is news to us."""
    charge = charge_of(str(about.get("payment_intent") or ""), str(about.get("id") or ""))
    if charge is None:
        return [], "nothing: the payment is not in this shop's book"
    inside = about.get("refunds")
    listed = inside.get("data") if isinstance(inside, dict) else None
    if isinstance(listed, list) and listed and not (isinstance(inside, dict) and inside.get("has_more")):
        refunds = [_as_it_is(refund) for refund in map(_read, listed) if refund]
        return refunds, "nothing: no refund that can be read is in it"
    if _is_known_sum(charge, about.get("amount_refunded")):
        return [], "known"
    return refunds_of(payment_named(charge.reference)), "nothing: the payment has no refunds"


def _as_it_is(said: StripeRefund) -> StripeRefund:
    """Messages come in any order, and only the refund itself tells what it waits for now: it is asked for when the
    message names another reason than is known."""
    answer, known = said.as_answer(), row_of(said)
    waits = answer.status == Refund.Status.PENDING and known is not None and known.status == Refund.Status.PENDING
    return retrieve_refund(said.id) if waits and known and known.pending_reason != answer.reason else said


def _is_known_sum(charge: Charge, amount_refunded: Any) -> bool:
    """Whether the refunds in our book that Stripe has named give the sum that it says was given back."""
    if not isinstance(amount_refunded, int):
        return False
    live = Refund.objects.filter(charge=charge, status__in=LIVE_REFUND_STATUSES, provider_reference__isnull=False)
    try:
        return from_stripe(amount_refunded, charge.currency) == live.aggregate(total=Sum("amount_minor"))["total"]
    except NotCountable:
        return False


def _read(about: Any) -> StripeRefund | None:
    try:
        return StripeRefund.model_validate(about)
    except ValidationError as error:
        logger.warning("a refund in a message of Stripe cannot be read (%d faults)", error.error_count())
        return None
