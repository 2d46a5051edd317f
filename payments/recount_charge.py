"""What a charge holds for its refunds, counted anew from the refunds themselves."""

from __future__ import annotations

import uuid

from django.db.models import F, Sum, Value
from django.db.models.functions import Least

from payments.models import LIVE_REFUND_STATUSES, Charge, Refund


def recount_charge(charge_id: uuid.UUID) -> int:
    """Sets the charge's `reserved_minor`; belongs into a transaction that holds the charge's lock.

    Refunds made elsewhere can pass what was captured: the charge then holds all it has. Returns by how much they do
    (minor units, 0 as a rule).
    """
    live = Refund.objects.filter(charge_id=charge_id, status__in=LIVE_REFUND_STATUSES)
    total = live.aggregate(total=Sum("amount_minor"))["total"] or 0
    charge = Charge.objects.filter(pk=charge_id)
    charge.update(reserved_minor=Least(F("captured_minor"), Value(total)))
    return max(0, total - charge.values_list("captured_minor", flat=True).get())
