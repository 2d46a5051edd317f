"""The shop's own book, which moves no money: it keeps what was given back and answers at once."""

from __future__ import annotations

import uuid

from payments.models import Refund
from payments.providers.base import NoAnswer, ProviderAnswer, RefundOrder


class Ledger:
    """The book's page for a key is the refund row with that key; its entry, once written, is `provider_reference`.

    The entry is written once, outside the transaction that later records the outcome, so that a worker which dies
    in between finds it again.
    """

    def refund(self, order: RefundOrder) -> ProviderAnswer:
        page = Refund.objects.filter(key=order.key)
        page.filter(provider_reference__isnull=True).update(provider_reference=f"book_{uuid.uuid4().hex}")
        entry = self.look_up(order)
        if entry is None:
            raise NoAnswer(f"the book has no page for {order.key}")
        return entry

    def look_up(self, order: RefundOrder) -> ProviderAnswer | None:
        entry = Refund.objects.filter(key=order.key).values_list("provider_reference", flat=True).first()
        return ProviderAnswer(status="succeeded", provider_reference=entry) if entry else None
