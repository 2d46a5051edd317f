"""What came back of a return is paid with its share of the agreed amount, never with more than those units cost."""

from __future__ import annotations

from payments.money import share_of_paid


def received_share(
    *, agreed_minor: int, agreed_units: int, came: int, asked_minor: int, asked_units: int
) -> tuple[int, int]:
    """Units paid and their price (minor units, without shipping).

    `agreed_minor` is for `agreed_units`, `asked_minor` for the `asked_units` of the request. More may come back than
    was agreed; only that many are paid. The price is rounded on both sums; the smaller one counts, so that a unit is
    never dearer here than where it is approved.
    """
    units = min(came, agreed_units)
    share = share_of_paid(agreed_minor, agreed_units, units, 0)
    return units, min(share, share_of_paid(asked_minor, asked_units, units, 0))
