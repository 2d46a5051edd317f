"""A customer asks for money back for units of one order line. The one way in, whatever the door."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from intake.customer_text import is_storable, read_text
from intake.line_offer import LineOffer, offer_for
from intake.models import RefundRequest, Step
from intake.photos import lock_photos, read_photo_ids
from intake.policy_in_force import policy_in_force
from intake.refusals import Refusal
from intake.timeline import Entry, write_step
from payments.models import Order, OrderLine

DETAILS_LENGTH = 1000
NEEDS_PHOTO = frozenset({"damaged", "defective", "wrong_item"})
CHOOSE_A_REASON = "Choose what is wrong with the item."
DESCRIBE = "Tell us in a sentence or two what is wrong."


@dataclass(frozen=True)
class _Wish:
    """What was asked, read and checked as far as that goes without rows."""

    reason: str
    details: str
    units: int | None
    photo_ids: list[uuid.UUID]


def submit_request(
    *,
    customer: User,
    order_number: str,
    sku: str,
    reason: str,
    details: str,
    units: int | None = None,
    photo_ids: Iterable[uuid.UUID | str] = (),
    source: str,
) -> RefundRequest:
    """Creates the request with its first step and locks its photos to it; `units=None` asks for all that are left.

    Of two submissions for a line at one moment the second gets Refusal request_exists with `id` and `number`. Raises
    Refusal: invalid_input, order_not_found, item_not_found, not_delivered, request_exists, photo_required,
    photo_not_found, too_many_requests; then nothing is written.
    """
    wish = _Wish(
        reason=_read_reason(reason),
        details=read_text(details, limit=DETAILS_LENGTH, field="details", when_empty=DESCRIBE),
        units=units,
        photo_ids=read_photo_ids(photo_ids),
    )
    try:
        with transaction.atomic():
            return _submit(customer, order_number, sku, wish, source)
    except IntegrityError as error:
        offer = _offer(customer, order_number, sku)
        if offer.refusal and offer.refusal.code == "request_exists":
            raise offer.refusal from error
        raise


def find_line(customer: User, order_number: str, sku: str, *, lock: bool = False) -> OrderLine:
    """The customer's own line with its order. Raises Refusal order_not_found, item_not_found; what belongs to
    someone else is not found either."""
    if not (is_storable(order_number) and is_storable(sku)):
        raise _order_not_found()
    lines = OrderLine.objects.select_related("order").filter(order__customer=customer, order__number=order_number)
    if lock:
        lines = lines.select_for_update(no_key=True, of=("self",))
    line = lines.filter(sku=sku).first()
    if line is None and Order.objects.filter(customer=customer, number=order_number).exists():
        sentence = f"Order {order_number} has no such item. Choose it from your orders."
        raise Refusal("item_not_found", sentence, field="sku")
    if line is None:
        raise _order_not_found()
    return line


def _submit(customer: User, order_number: str, sku: str, wish: _Wish, source: str) -> RefundRequest:
    User.objects.select_for_update(no_key=True).get(pk=customer.pk)  # so that the day's requests are counted right
    offer = _offer(customer, order_number, sku, lock=True)
    if offer.refusal:
        raise offer.refusal
    units = _read_units(wish.units, offer)
    if wish.reason in NEEDS_PHOTO and not wish.photo_ids:
        raise Refusal("photo_required", "Add at least one photo that shows what is wrong.", field="photos")
    _check_day(customer)
    line = offer.line
    request = RefundRequest.objects.create(
        line=line,
        customer=customer,
        policy=policy_in_force(),
        units=units,
        amount_minor=_priced(offer, units),
        currency=line.order.currency,
        reason=wish.reason,
        details=wish.details,
        source=source,
    )
    lock_photos(customer, wish.photo_ids, to=request)
    asked = Entry(
        kind=Step.Kind.TRIGGER,
        actor=Step.Actor.CUSTOMER,
        actor_user=customer,
        title="You asked for a refund",
        detail=wish.details,
        for_customer=True,
    )
    write_step(request.pk, asked)
    return request


def _offer(customer: User, order_number: str, sku: str, *, lock: bool = False) -> LineOffer:
    line = find_line(customer, order_number, sku, lock=lock)
    return offer_for(line, list(line.refund_requests.all()))


def _read_reason(reason: str) -> str:
    if reason not in RefundRequest.Reason.values:
        raise Refusal("invalid_input", CHOOSE_A_REASON, field="reason")
    return reason


def _read_units(units: int | None, offer: LineOffer) -> int:
    if units is None:
        return offer.units_left
    if not 1 <= units <= offer.units_left:
        allowed = "1 unit" if offer.units_left == 1 else f"1 to {offer.units_left} units"
        raise Refusal("invalid_input", f"You can ask for {allowed} of this item.", field="units")
    return units


def _priced(offer: LineOffer, units: int) -> int:
    amount_minor = offer.amount_for(units)
    if amount_minor == 0:
        sentence = "That share of the price rounds to nothing. Ask for more units at once."
        raise Refusal("invalid_input", sentence, field="units")
    return amount_minor


def _check_day(customer: User) -> None:
    since = timezone.now() - timedelta(days=1)
    if RefundRequest.objects.filter(customer=customer, created_at__gt=since).count() >= settings.REQUESTS_PER_DAY:
        sentence = f"You have sent {settings.REQUESTS_PER_DAY} requests within a day. Try again tomorrow."
        raise Refusal("too_many_requests", sentence)


def _order_not_found() -> Refusal:
    return Refusal("order_not_found", "There is no such order among yours. Look at your list of orders.", field="order")
