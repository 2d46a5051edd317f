"""Charges hold what their live refunds come to, and nothing belongs to a request that is not there."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence

from django.db.models import Count, Exists, F, OuterRef, Q, Sum
from django.db.models.functions import Coalesce, Least

from agent.models import ChainRecord
from intake.models import RefundRequest
from intake.models.request import FIRST_NUMBER
from payments.models import LIVE_REFUND_STATUSES, Charge, Refund
from payments.money import format_minor


def check_charges(charges: Sequence[uuid.UUID] | None = None) -> Iterator[str]:
    """All charges, or those with these keys. One statement, so that it sees all rows at the same moment."""
    live = Coalesce(Sum("refunds__amount_minor", filter=Q(refunds__status__in=LIVE_REFUND_STATUSES)), 0)
    found = Charge.objects.annotate(live=live).exclude(reserved_minor=Least(F("live"), F("captured_minor")))
    if charges is not None:
        found = found.filter(pk__in=charges)
    for charge in found.select_related("order").order_by("captured_at", "pk").iterator():
        held, total = (format_minor(each, charge.currency) for each in (charge.reserved_minor, charge.live))
        yield (
            f"Charge {charge.reference} of order {charge.order.number} holds {held} for its refunds, and they come to "
            f"{total}."
        )


def check_belonging() -> Iterator[str]:
    requests = RefundRequest.objects.filter(uuid=OuterRef("request_uuid"))
    lost = Refund.objects.filter(~Exists(requests), request_uuid__isnull=False)
    for refund in lost.order_by("reserved_at", "pk").iterator():
        yield f"Refund {refund.reference} names a request that does not exist."
    yield from _check_chains()


def _check_chains() -> Iterator[str]:
    """Not every hand that deletes a row is held by the database's foreign keys."""
    requests = RefundRequest.objects.filter(pk=OuterRef("request_id"))
    lost = ChainRecord.objects.filter(~Exists(requests)).values_list("request_id").annotate(links=Count("pk"))
    for request_id, links in lost.order_by("request_id"):
        counted = f"{links} {'link' if links == 1 else 'links'}"
        yield f"Request #{FIRST_NUMBER + request_id}: It is not in the book any more, and its chain has {counted}."
