"""Takes orders one by one, each in a transaction of its own: of a refused one nothing stays, the others are kept."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from django.db import IntegrityError, transaction

from payments.models import Charge, Order
from refunddesk.order_import.accounts import account_of, names_of_staff
from refunddesk.order_import.charge_rules import check_charges
from refunddesk.order_import.given import GivenOrder, read_order
from refunddesk.order_import.later_news import add_later_news
from refunddesk.order_import.refused import Refused
from refunddesk.order_import.shapes import OrderShape
from refunddesk.order_import.write_order import write_order

TRIES = 2


class Taken(StrEnum):
    NEW = "new"
    ADDED_TO = "added to"
    UNCHANGED = "unchanged"


class Importer:
    """For the orders of one file. `dry_run` undoes each order again, and remembers what would have been there."""

    def __init__(self, *, ledger_is_real: bool = False, dry_run: bool = False) -> None:
        self._ledger_is_real = ledger_is_real
        self._dry_run = dry_run
        self._shape = OrderShape()
        self._staff = names_of_staff()
        self._numbers: set[str] = set()
        self._order_of_reference: dict[str, str] = {}

    def take(self, raw: Any) -> Taken:
        """`raw` is an order as JSON holds it. Raises Refused; then nothing of it was written."""
        given = read_order(raw, self._shape)
        check_charges(given, ledger_is_real=self._ledger_is_real)
        self._refuse_twins(given)
        taken = self._write_with_patience(given)
        self._numbers.add(given.number)
        self._order_of_reference.update((charge.reference, given.number) for charge in given.charges)
        return taken

    def _refuse_twins(self, given: GivenOrder) -> None:
        if given.number in self._numbers:
            raise Refused("number", "the order stands in the file twice; the first one was taken.")
        for place, charge in enumerate(given.charges):
            if charge.reference in self._order_of_reference:
                raise _paid_another(place, charge.reference, self._order_of_reference[charge.reference])

    def _write_with_patience(self, given: GivenOrder) -> Taken:
        """Where another import writes the same rows at the same moment, the second look finds them."""
        for tries_left in reversed(range(TRIES)):
            try:
                with transaction.atomic():
                    taken = self._write(given)
                    if self._dry_run:
                        transaction.set_rollback(True)
                return taken
            except IntegrityError:
                if not tries_left:
                    raise
        raise AssertionError("every way out is above")

    def _write(self, given: GivenOrder) -> Taken:
        orders = Order.objects.select_for_update(no_key=True, of=("self",)).select_related("customer")
        order = orders.filter(number=given.number).first()
        _refuse_charges_of_others(given)
        if order is None:
            write_order(given, account_of(given.customer, self._staff))
            return Taken.NEW
        return Taken.ADDED_TO if add_later_news(order, given) else Taken.UNCHANGED


def _refuse_charges_of_others(given: GivenOrder) -> None:
    """A payment is of one order; else its money could go back twice."""
    places = {charge.reference: place for place, charge in enumerate(given.charges)}
    others = Charge.objects.filter(reference__in=places).exclude(order__number=given.number)
    other = others.values_list("reference", "order__number").first()
    if other is not None:
        raise _paid_another(places[other[0]], *other)


def _paid_another(place: int, reference: str, number: str) -> Refused:
    return Refused(f"charges[{place}].reference", f"{reference} has paid order {number}.")
