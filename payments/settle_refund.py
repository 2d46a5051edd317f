"""Asks the provider for a reserved refund and records what it answers, each answer once."""

from __future__ import annotations

import logging
import uuid

from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from payments.models import Charge, Refund, RefundOutcome
from payments.providers.base import NoAnswer, ProviderAnswer, RefundOrder
from payments.providers.choose import provider_named
from payments.recount_charge import recount_charge

logger = logging.getLogger(__name__)

REASON_LENGTH = 200
FINAL = frozenset({Refund.Status.SUCCEEDED, Refund.Status.FAILED})
# Which answer may follow which: an older answer that comes late changes nothing, a late failure does.
MAY_FOLLOW: dict[str, tuple[str, ...]] = {
    Refund.Status.PENDING: (Refund.Status.RESERVED,),
    Refund.Status.SUCCEEDED: (Refund.Status.RESERVED, Refund.Status.PENDING),
    Refund.Status.FAILED: (Refund.Status.RESERVED, Refund.Status.PENDING, Refund.Status.SUCCEEDED),
}


def settle_refund(refund_id: uuid.UUID, source: str) -> Refund:
    """Brings the refund to the provider, outside any transaction, and returns it as it stands afterwards.

    A refund that was asked for before is looked up first. Without an answer it stays in flight. `source` as in
    `RefundOutcome.Source`. Nothing is asked when the provider's last word is known.
    """
    refund = Refund.objects.select_related("charge").get(pk=refund_id)
    if refund.status in FINAL:
        return refund
    Refund.objects.filter(pk=refund_id).update(asked_at=timezone.now())
    answer = _ask(refund, asked_before=refund.asked_at is not None)
    if answer is None:
        return refund
    try:
        return record_outcome(
            refund_id,
            status=answer.status,
            reason=answer.reason,
            provider_reference=answer.provider_reference,
            source=source,
        )
    except IntegrityError:  # another row took this provider's refund meanwhile; asked again, the answer is another one
        taken = Refund.objects.filter(provider_reference=answer.provider_reference).exclude(pk=refund_id)
        if not taken.exists():
            raise
        logger.warning("refund %s: %s belongs to another row", refund.reference, answer.provider_reference)
        return refund


def record_outcome(refund_id: uuid.UUID, *, status: str, reason: str, provider_reference: str, source: str) -> Refund:
    """Writes one answer of the provider, by whatever road it came, and returns the refund as it stands.

    An answer that is already known or older than what is known changes nothing; another reason to wait is news, so
    whoever says one must know that it is the present one. A failure, also a late one, gives the charge its money back.
    `reason` as in `ProviderAnswer`. Raises ValueError for a status that is no answer, and IntegrityError when another
    row has that `provider_reference`.
    """
    if status not in MAY_FOLLOW:
        raise ValueError(f"“{status}” is not an answer of a provider.")
    now, reason = timezone.now(), reason[:REASON_LENGTH]
    changes: dict[str, object] = {
        "status": status,
        "failure_reason": reason if status == Refund.Status.FAILED else "",
        "pending_reason": reason if status == Refund.Status.PENDING else "",
    }
    if status in FINAL:
        changes["settled_at"] = now
    if provider_reference:
        changes["provider_reference"] = Coalesce(F("provider_reference"), Value(provider_reference))
    with transaction.atomic():
        refund = Refund.objects.get(pk=refund_id)
        # The charge first, as everywhere, so that this never waits in a circle with a new reservation.
        Charge.objects.select_for_update(no_key=True).get(pk=refund.charge_id)
        if _if_it_is_news(refund_id, status, reason).update(**changes):
            if status == Refund.Status.FAILED:
                recount_charge(refund.charge_id)
            RefundOutcome.objects.create(
                refund_id=refund_id, status=status, reason=reason, source=source, created_at=now
            )
        refund.refresh_from_db()
    return refund


def _if_it_is_news(refund_id: uuid.UUID, status: str, reason: str) -> QuerySet[Refund]:
    """The refund's row, or none. A refund that waits may come to wait for something else, or for nothing it names."""
    follows = Q(status__in=MAY_FOLLOW[status])
    if status == Refund.Status.PENDING:
        follows |= Q(status=Refund.Status.PENDING) & ~Q(pending_reason=reason)
    return Refund.objects.filter(follows, pk=refund_id)


def order_of(refund: Refund) -> RefundOrder:
    """What the provider is told of `refund`, which comes with its charge."""
    return RefundOrder(
        key=refund.key,
        charge_reference=refund.charge.reference,
        amount_minor=refund.amount_minor,
        currency=refund.currency,
        reference=refund.reference,
        provider_reference=refund.provider_reference or "",
    )


def _ask(refund: Refund, *, asked_before: bool) -> ProviderAnswer | None:
    """None when the provider gives no answer, or has no more to say of a refund it took."""
    order = order_of(refund)
    try:
        provider = provider_named(refund.charge.provider)
        known = provider.look_up(order) if asked_before else None
        if known is not None or refund.status == Refund.Status.PENDING:
            return known
        return provider.refund(order)
    except NoAnswer as error:
        logger.warning("refund %s: no answer from the provider: %s", refund.reference, error)
    except Exception:  # whatever broke, the money may have moved: the refund stays in flight and is looked up later
        logger.exception("refund %s: asking the provider broke", refund.reference)
    return None
