"""Pays what staff decided, and puts the request before them instead where that is not to be had as decided."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction

from agent.finish_refund import settle_and_finish
from agent.hear_before_paying import hear_before_paying
from agent.jobs.refusal_to_staff import put_refusal_before_staff
from agent.lease import Lease
from agent.models import Decision, Run
from agent.outcomes import Reserved
from agent.pay import refund_decided
from intake.models import Receipt
from intake.shop_clock import day_name
from payments.issue_refund import CANNOT_BE_PAID, AbovePrice, NoChargeHolds, RefundInFlight, ShippingAlreadyBack
from payments.made_elsewhere import heard_of_after
from payments.models import Refund
from payments.money import format_minor

# Whoever decides has read the case some time before, and a refund made by hand does not change the page they look at.
READ_BEFORE = timedelta(minutes=10)


class PaidElsewhere(Exception):
    """Money of the order went back by hand, perhaps the same (`refund`), and who decided may not have known."""

    def __init__(self, refund: Refund) -> None:
        super().__init__(f"{refund} was made elsewhere and heard of too late for the decision")
        self.refund = refund


def pay_decided(
    lease: Lease,
    run: Run,
    decision: Decision,
    *,
    amount_minor: int,
    shipping_minor: int,
    units: int,
    receipt: Receipt | None = None,
) -> None:
    """Ends the run. `amount_minor` with shipping; with a `receipt`, the decision was carried out when it opened the
    return. Raises LeaseLost."""
    hear_before_paying(lease, run.request.line.order_id, amount_minor)
    own = decision if receipt is None else None
    why: NoChargeHolds | AbovePrice | ShippingAlreadyBack | RefundInFlight | str
    try:
        reserved = _reserve(lease, run, decision, amount_minor, shipping_minor, units, receipt)
    except PaidElsewhere as error:
        why = _sentence(error.refund)
    except CANNOT_BE_PAID as error:
        why = error
    else:
        settle_and_finish(lease, reserved.refund_id)
        return
    put_refusal_before_staff(lease, run, why, amount_minor=amount_minor - shipping_minor, decision=own)


def _reserve(
    lease: Lease,
    run: Run,
    decision: Decision,
    amount_minor: int,
    shipping_minor: int,
    units: int,
    receipt: Receipt | None,
) -> Reserved:
    """Looks for refunds made elsewhere when the reservation has locked the order's payments: none can come between."""
    with transaction.atomic():
        try:
            reserved = refund_decided(
                lease,
                amount_minor=amount_minor,
                shipping_minor=shipping_minor,
                units=units,
                decision=decision if receipt is None else None,
                receipt=receipt,
            )
        except NoChargeHolds:  # perhaps just because of such a refund; then that is what staff should read
            _refuse_if_paid_elsewhere(run, decision)
            raise
        _refuse_if_paid_elsewhere(run, decision)
    return reserved


def _refuse_if_paid_elsewhere(run: Run, decision: Decision) -> None:
    read_at = max(decision.approval.opened_at, decision.created_at - READ_BEFORE)
    refund = heard_of_after(run.request.line.order_id, read_at)
    if refund is not None:
        raise PaidElsewhere(refund)


def _sentence(refund: Refund) -> str:
    amount = format_minor(refund.amount_minor, refund.currency)
    return (
        f"{amount} of this order went back by hand at the payment provider on {day_name(refund.reserved_at)}, and the "
        "shop heard of it only after this was decided or in the ten minutes before. Decide again whether more is to be "
        "paid."
    )
