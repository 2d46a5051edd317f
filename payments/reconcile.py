"""Compares the shop's book with itself and with the provider's, and says what to do about each difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, Least
from django.utils import timezone

from payments.models import LIVE_REFUND_STATUSES, Charge, Refund, RefundOutcome
from payments.money import format_minor
from payments.providers.base import NoAnswer
from payments.providers.stripe import with_key
from payments.providers.stripe_line import RefusedByStripe, payment_named, refunds_of
from payments.providers.stripe_refund import StripeRefund
from payments.recount_charge import recount_charge
from payments.take_in_refund import NOTHING, PROVIDER, same_amount, take_in_refund

ROWS_AT_ONCE = 200
WAITS_TOO_LONG = timedelta(days=1)
# A bank may take some days; after these nobody should have to find out by chance.
ON_ITS_WAY_TOO_LONG = timedelta(days=10)
JUST_ASKED = timedelta(minutes=5)
APPLY = "run `manage.py reconcile --apply`"


class NotRepaired(Exception):
    """Why a difference stays although its repair was tried, in words that can end a sentence."""


@dataclass(frozen=True)
class Difference:
    """`where` names the payment or refund; `repair`, if there is one, sets it right and says what came of it, or raises
    NotRepaired."""

    where: str
    what: str
    todo: str
    repair: Callable[[], str] | None = None


def differences(days: int) -> Iterator[Difference]:
    """Every difference: sums of all charges, then Stripe's list of each charge with news in the last `days`."""
    yield from _wrong_sums()
    yield from _long_waits()
    yield from _at_stripe(timezone.now() - timedelta(days=days))


def compared(days: int) -> tuple[int, int, int]:
    """How many charges and refunds are in the book, and how many of the charges are compared with Stripe."""
    since = timezone.now() - timedelta(days=days)
    return Charge.objects.count(), Refund.objects.count(), _stripe_charges(since).count()


def _wrong_sums() -> Iterator[Difference]:
    live = Coalesce(Sum("refunds__amount_minor", filter=Q(refunds__status__in=LIVE_REFUND_STATUSES)), 0)
    charges = Charge.objects.select_related("order").annotate(live=live)
    for charge in charges.exclude(reserved_minor=Least(F("live"), F("captured_minor"))).order_by("pk").iterator():
        held, total = (format_minor(each, charge.currency) for each in (charge.reserved_minor, charge.live))
        yield Difference(
            _name(charge),
            f"the book holds {held} for its refunds, and they add up to {total}",
            f"to hold what the refunds add up to, {APPLY}",
            lambda charge=charge: _recount(charge),  # type: ignore[misc]
        )
    for charge in charges.filter(live__gt=F("captured_minor")).order_by("pk").iterator():
        over = format_minor(charge.live - charge.captured_minor, charge.currency)
        yield Difference(
            _name(charge),
            f"{over} more went back than it took",
            "look in the provider's dashboard which refund was made twice, and settle it with the customer",
        )


def _long_waits() -> Iterator[Difference]:
    now = timezone.now()
    silent = Q(status=Refund.Status.RESERVED, reserved_at__lt=now - WAITS_TOO_LONG)
    slow = Q(status=Refund.Status.PENDING, reserved_at__lt=now - ON_ITS_WAY_TOO_LONG)
    old = Refund.objects.filter(silent | slow)
    for refund in old.select_related("charge__order").order_by("reserved_at").iterator():
        since = f"{timezone.localtime(refund.reserved_at):%Y-%m-%d %H:%M}"
        is_silent = refund.status == Refund.Status.RESERVED
        waits = f" ({refund.pending_reason})" if refund.pending_reason else ""
        yield Difference(
            f"refund {refund.reference} of {_name(refund.charge)}",
            f"the provider has given no answer since {since}" if is_silent else f"on its way since {since}{waits}",
            "look at the worker's log for why, and for the refund in the provider's dashboard; it is asked again by "
            "itself",
        )


def _stripe_charges(since: datetime) -> QuerySet[Charge]:
    news = Q(captured_at__gte=since) | Q(refunds__reserved_at__gte=since) | Q(refunds__settled_at__gte=since)
    return Charge.objects.filter(news, provider=PROVIDER).distinct()


def _at_stripe(since: datetime) -> Iterator[Difference]:
    for charge in _stripe_charges(since).select_related("order").order_by("captured_at", "pk").iterator():
        before = timezone.now()
        payment = payment_named(charge.reference)
        if not payment:
            yield Difference(
                _name(charge), "its reference names no payment at Stripe", "correct the charge's reference"
            )
            continue
        try:
            made = refunds_of(payment)
        except RefusedByStripe as refused:
            todo = "see that STRIPE_SECRET_KEY is of the account that took the payment"
            yield Difference(_name(charge), f"Stripe says: {refused.message}", todo)
        except NoAnswer as error:
            todo = "try again later; this payment and those after it were not compared"
            yield Difference(_name(charge), f"Stripe gave no answer ({error})", todo)
            return
        else:
            yield from _of_charge(charge, made, before)


def _of_charge(charge: Charge, made: list[StripeRefund], asked_at: datetime) -> Iterator[Difference]:
    """Pairs rows and Stripe's refunds by Stripe's name, then by our key; what is left over has no other half."""
    left = {each.id: each for each in made}
    for refund in Refund.objects.filter(charge=charge).order_by("reserved_at", "pk").iterator(ROWS_AT_ONCE):
        said = left.get(refund.provider_reference or "") or _by_key(left, refund)
        if said is not None:
            del left[said.id]
            yield from _of_pair(charge, refund, said)
        elif _should_be_there(refund, asked_at):
            yield Difference(
                f"refund {refund.reference} of {_name(charge)}",
                f"the book says “{refund.get_status_display()}”, and Stripe has no such refund",
                "look for it in the dashboard; if it was never made, no money has moved",
            )
    for said in left.values():
        if not said.moved_no_money:
            yield Difference(
                f"refund {said.id} of {_name(charge)}",
                f"Stripe has it ({said.status}, {said.amount} {said.currency} in Stripe's units), the book has not",
                f"to write it down, {APPLY}",
                lambda said=said: _take_in(said),  # type: ignore[misc]
            )


def _by_key(left: dict[str, StripeRefund], refund: Refund) -> StripeRefund | None:
    return None if refund.provider_reference else with_key(left.values(), refund.key)


def _should_be_there(refund: Refund, asked_at: datetime) -> bool:
    """A failed one need not, nor one that is being asked for at this moment."""
    if refund.status == Refund.Status.RESERVED:
        return refund.provider_reference is not None
    return refund.status != Refund.Status.FAILED and (refund.settled_at or refund.reserved_at) < asked_at


def _of_pair(charge: Charge, refund: Refund, said: StripeRefund) -> Iterator[Difference]:
    where = f"refund {refund.reference} ({said.id}) of {_name(charge)}"
    if not same_amount(said, refund):
        amount = format_minor(refund.amount_minor, refund.currency)
        told = f"{said.amount} {said.currency} in Stripe's units"
        yield Difference(
            where, f"the book says {amount}, Stripe says {told}", "look at it in the dashboard: the book is wrong"
        )
    answer = said.as_answer()
    if answer.status == refund.status or _just_asked(refund):
        return
    what = f"the book says “{refund.get_status_display()}”, Stripe says “{said.status}”"
    if refund.status == Refund.Status.FAILED:
        yield Difference(
            where, what, "the money may be out although the request stands before staff: cancel it or decline there"
        )
    elif answer.status == "pending" and refund.status == Refund.Status.SUCCEEDED:
        yield Difference(where, what, "look at it in the dashboard: the customer was told that the money is sent")
    else:
        yield Difference(where, what, f"to take over what Stripe says, {APPLY}", lambda: _take_in(said))


def _just_asked(refund: Refund) -> bool:
    waiting = refund.status == Refund.Status.RESERVED
    return waiting and (refund.asked_at or refund.reserved_at) > timezone.now() - JUST_ASKED


def _take_in(said: StripeRefund) -> str:
    with transaction.atomic():
        effect = take_in_refund(said, RefundOutcome.Source.IMPORT)
    if effect.startswith(NOTHING):
        raise NotRepaired(effect.removeprefix(NOTHING))
    return effect


def _recount(charge: Charge) -> str:
    with transaction.atomic():
        Charge.objects.select_for_update(no_key=True).get(pk=charge.pk)
        recount_charge(charge.pk)
    return "counted anew"


def _name(charge: Charge) -> str:
    return f"payment {charge.reference} of order {charge.order.number}"
