"""A refund made by hand of which nobody has told the desk may be for the very thing that is about to be paid."""

from __future__ import annotations

from agent.lease import Lease
from payments.hear_of_refunds import hear_of_refunds, payments_to_look_at


def hear_before_paying(lease: Lease, order_id: int, amount_minor: int) -> None:
    """Brings such refunds of the order into the book, where the rules and the decided payments look for them.

    Belongs before the transaction that reserves `amount_minor`. Raises LeaseLost.
    """
    for charge in payments_to_look_at(order_id, amount_minor):
        lease.renew()
        hear_of_refunds(charge, amount_minor)
