"""What a customer can ask for on one order line, or why not. Page, API and `submit_request` judge by this alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from intake.models import RefundRequest
from intake.refusals import Refusal
from intake.statuses import OPEN
from payments.models import OrderLine
from payments.money import share_of_paid


@dataclass(frozen=True)
class LineOffer:
    """`units_left` can still be asked for; `refusal` says why nothing can be asked for now; `newest` is the line's
    newest request."""

    line: OrderLine
    units_left: int
    refusal: Refusal | None
    newest: RefundRequest | None
    delivered: bool

    @property
    def refundable_units(self) -> int:
        """What a request made now may ask for; 0 when there is a refusal."""
        return 0 if self.refusal else self.units_left

    def amount_for(self, units: int) -> int:
        """The price of `units` more units in minor units of the order's currency."""
        before = self.line.quantity - self.units_left
        return share_of_paid(self.line.paid_minor, self.line.quantity, units, before)


def offer_for(line: OrderLine, requests: Sequence[RefundRequest]) -> LineOffer:
    """`requests` are all requests of the line, in any order; there are never more than it has units."""
    units_left = max(0, line.quantity - sum(request.units for request in requests))
    newest = max(requests, key=lambda request: request.pk, default=None)
    delivered = is_delivered(line, timezone.now())
    refusal = _not_delivered(delivered) or _request_exists(requests, newest, units_left) or _nothing_paid(line)
    return LineOffer(line, units_left, refusal, newest, delivered)


def is_delivered(line: OrderLine, now: datetime) -> bool:
    """A day of delivery that is still ahead is a carrier's estimate."""
    return line.delivered_at is not None and line.delivered_at <= now


def _not_delivered(delivered: bool) -> Refusal | None:
    if delivered:
        return None
    return Refusal("not_delivered", "This item has not been delivered yet. You can ask for a refund once it is there.")


def _request_exists(requests: Sequence[RefundRequest], newest: RefundRequest | None, units_left: int) -> Refusal | None:
    if newest is None:
        return None
    if any(request.status in OPEN and not request.reopened for request in requests):
        sentence = f"You already asked for a refund for this item, and request #{newest.number} is still open."
    elif units_left == 0:
        sentence = f"Every unit of this item was already asked for, last in request #{newest.number}."
    else:
        return None
    return Refusal("request_exists", sentence, id=str(newest.uuid), number=newest.number)


def _nothing_paid(line: OrderLine) -> Refusal | None:
    if line.paid_minor > 0:
        return None
    return Refusal("invalid_input", "This item cost nothing after discounts, so there is nothing to give back.")
