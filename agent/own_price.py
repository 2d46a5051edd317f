"""What a request costs, computed again from its line: the amount that stands on the request is never believed."""

from __future__ import annotations

from django.db.models import OuterRef, Subquery, Sum, Value
from django.db.models.functions import Coalesce

from intake.models import RefundRequest
from payments.money import share_of_paid


def units_asked_before() -> Coalesce:
    """For a query of requests: the units that earlier requests of the same line had asked for."""
    earlier = RefundRequest.objects.filter(line=OuterRef("line"), pk__lt=OuterRef("pk")).order_by()
    total = earlier.values("line").annotate(total=Sum("units")).values("total")
    return Coalesce(Subquery(total), Value(0))


def own_price(request: RefundRequest, units_before: int) -> int:
    """Minor units; 0 when so many units were not left. `request` with its line, `units_before` as above."""
    line = request.line
    try:
        return share_of_paid(line.paid_minor, line.quantity, request.units, units_before)
    except ValueError:
        return 0


def own_price_now(request: RefundRequest) -> int:
    """As `own_price`, with one query. Earlier requests of a line are in the book before a later one is priced."""
    counted = RefundRequest.objects.filter(pk=request.pk).annotate(before=units_asked_before())
    return own_price(request, counted.values_list("before", flat=True).get())


def price_of_part(price_minor: int, asked_units: int, units: int) -> int:
    """What `units` of the `asked_units` cost, which together cost `price_minor`; never more than that."""
    return share_of_paid(price_minor, asked_units, min(units, asked_units), 0)
