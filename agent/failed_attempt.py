"""What a refused refund was for: whoever decides again on its card means the same units, shipping and amount."""

from __future__ import annotations

from agent.models import Approval
from payments.models import Refund


def failed_attempt(card: Approval) -> Refund | None:
    """The request's newest refund, when it failed and `card` followed that and still offers its price.

    The card offers the amount without shipping; `units`, `shipping_minor` and `amount_minor` of the refund (with
    shipping, minor units) are what was tried. None: the card stands for itself.
    """
    newest = Refund.objects.filter(request_uuid=card.request.uuid).order_by("-attempt").first()
    if newest is None or newest.status != Refund.Status.FAILED or newest.settled_at is None:
        return None
    offers_its_price = card.amount_minor == max(1, newest.amount_minor - newest.shipping_minor)
    return newest if offers_its_price and card.opened_at >= newest.settled_at else None
