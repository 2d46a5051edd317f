"""Refunds that hang: the provider has been silent for a day, or has not finished for ten. A person has to look."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Q, QuerySet
from django.utils import timezone

from payments.models import Refund
from payments.reconcile import ON_ITS_WAY_TOO_LONG, WAITS_TOO_LONG

LONGEST = {Refund.Status.RESERVED: WAITS_TOO_LONG, Refund.Status.PENDING: ON_ITS_WAY_TOO_LONG}


def slow_refunds() -> QuerySet[Refund]:
    now = timezone.now()
    old = Q()
    for status, longest in LONGEST.items():
        old |= Q(status=status, reserved_at__lt=now - longest)
    return Refund.objects.filter(old)


def is_slow(refund: Refund, now: datetime) -> bool:
    longest = LONGEST.get(Refund.Status(refund.status))
    return longest is not None and refund.reserved_at < now - longest
