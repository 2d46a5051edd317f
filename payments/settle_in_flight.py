"""Asks again about refunds the provider has not given its last word on, a bounded batch at a time."""

from __future__ import annotations

import logging
import time
import uuid
from datetime import datetime, timedelta

from django.db.models import Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from payments.models import Refund, RefundOutcome
from payments.settle_refund import settle_refund

logger = logging.getLogger(__name__)

BATCH = 50
# A bank that hangs costs up to a call's whole time for each refund; what is not asked about now is due next time.
MOST_SECONDS = 20.0
# A run asks for its own fresh refund; the beat only takes what a run has left behind, and what waits long less often.
ASK_RESERVED_AGAIN = timedelta(seconds=60)
ASK_PENDING_AGAIN = timedelta(minutes=10)
FRESH = timedelta(hours=2)
ASK_OLD_RESERVED_AGAIN = timedelta(minutes=30)
ASK_OLD_PENDING_AGAIN = timedelta(hours=3)


def settle_due_refunds(now: datetime | None = None) -> int:
    """Asks about each due refund once, the longest unasked first; returns how many were asked about.

    No new call is begun after MOST_SECONDS.
    """
    until = time.monotonic() + MOST_SECONDS
    moment = now or timezone.now()
    fresh = Q(reserved_at__gt=moment - FRESH)
    due = (
        Refund.objects.annotate(last=Coalesce("asked_at", "reserved_at"))
        .filter(
            Q(asked_at=None, status=Refund.Status.RESERVED, last__lte=moment - ASK_RESERVED_AGAIN)
            | fresh & Q(status=Refund.Status.RESERVED, last__lte=moment - ASK_RESERVED_AGAIN)
            | fresh & Q(status=Refund.Status.PENDING, last__lte=moment - ASK_PENDING_AGAIN)
            | Q(status=Refund.Status.RESERVED, last__lte=moment - ASK_OLD_RESERVED_AGAIN)
            | Q(status=Refund.Status.PENDING, last__lte=moment - ASK_OLD_PENDING_AGAIN)
        )
        .order_by("last", "id")
        .values_list("id", "asked_at")[:BATCH]
    )
    asked = 0
    for refund_id, asked_at in list(due):
        if time.monotonic() >= until:
            break
        if _take(refund_id, asked_at, moment):
            _ask_again(refund_id)
            asked += 1
    return asked


def _ask_again(refund_id: uuid.UUID) -> None:
    try:
        settle_refund(refund_id, RefundOutcome.Source.BEAT)
    except Exception:  # one refund that cannot be settled must not keep the others from it
        logger.exception("refund %s could not be settled", refund_id)


def _take(refund_id: uuid.UUID, asked_at: datetime | None, moment: datetime) -> bool:
    """True for the one worker that asks now. A refund never asked for keeps its empty `asked_at` until it is."""
    if asked_at is None:
        return True
    return Refund.objects.filter(pk=refund_id, asked_at=asked_at).update(asked_at=moment) == 1
