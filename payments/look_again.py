"""Looks again at refunds that Stripe has said are through: a bank may still send one back, and the message be lost."""

from __future__ import annotations

import logging
import uuid
from datetime import datetime, timedelta

from django.utils import timezone

from payments.models import Refund, RefundOutcome
from payments.providers.base import NoAnswer
from payments.providers.choose import provider_named
from payments.settle_refund import order_of, record_outcome
from payments.take_in_refund import PROVIDER

logger = logging.getLogger(__name__)

BATCH = 10
AGAIN = timedelta(days=1)
# Banks have thirty days to send a refund back; some take longer.
MAY_FAIL_FOR = timedelta(days=45)


def look_again_at_refunds(now: datetime | None = None) -> int:
    """Looks once a day at each that may still fail, the longest unasked first; returns how many were looked at.

    One that Stripe says nothing of is left for the next day, and the others for the next call.
    """
    moment = now or timezone.now()
    due = Refund.objects.filter(
        charge__provider=PROVIDER,
        status=Refund.Status.SUCCEEDED,
        provider_reference__isnull=False,
        settled_at__gt=moment - MAY_FAIL_FOR,
        asked_at__gt=moment - MAY_FAIL_FOR - AGAIN,
        asked_at__lte=moment - AGAIN,
    )
    looked = 0
    for refund_id, asked_at in list(due.order_by("asked_at", "id").values_list("id", "asked_at")[:BATCH]):
        if not Refund.objects.filter(pk=refund_id, asked_at=asked_at).update(asked_at=moment):
            continue  # another worker looks at it
        looked += 1
        try:
            _look(refund_id)
        except NoAnswer as error:
            logger.warning("refund %s: no answer whether it is still through: %s", refund_id, error)
            break
    return looked


def _look(refund_id: uuid.UUID) -> None:
    """Raises NoAnswer."""
    refund = Refund.objects.select_related("charge").get(pk=refund_id)
    answer = provider_named(refund.charge.provider).look_up(order_of(refund))
    if answer is not None and answer.status == Refund.Status.FAILED:
        record_outcome(
            refund_id,
            status=answer.status,
            reason=answer.reason,
            provider_reference=answer.provider_reference,
            source=RefundOutcome.Source.BEAT,
        )
