"""What a parcel that nobody waits for means to whoever decides: its price, its words, and which of them are news."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Q

from agent.decision_behind import decision_behind
from agent.handover import add_concern
from agent.models import Decision, Run
from agent.received_share import received_share
from intake.models import Receipt, RefundRequest


class ParcelCame(Exception):
    """A decision is about to wait for, or to refuse, an item that has come back since (`receipt`)."""

    def __init__(self, receipt: Receipt) -> None:
        super().__init__(f"{receipt.parcel} came before the decision could be carried out")
        self.receipt = receipt


def what_came(receipt: Receipt) -> str:
    return f"{receipt.units} of {receipt.parcel.request.units} units of the return {receipt.parcel.code} arrived"


def price_of_what_came(receipt: Receipt, decision: Decision | None = None) -> tuple[int, int]:
    """Units to pay and their price (minor units, without shipping), as the decision behind the return has it; the
    return's own numbers only where there is none."""
    parcel, request = receipt.parcel, receipt.parcel.request
    agreed = decision or decision_behind(parcel) or parcel
    return received_share(
        agreed_minor=(agreed.amount_minor or 0) - agreed.shipping_minor,
        agreed_units=agreed.units or request.units,
        came=receipt.units,
        asked_minor=request.amount_minor,
        asked_units=request.units,
    )


def refuse_if_a_parcel_came(run: Run, decision: Decision) -> None:
    """Raises ParcelCame when one was recorded that the decision could not know of.

    Belongs into the transaction that ends the run: the request stays locked, as it is while a receipt is recorded, so
    that each parcel is seen either here or by its own run afterwards.
    """
    RefundRequest.objects.select_for_update(no_key=True).only("pk").get(pk=run.request_id)
    unread = _receipts(run.request_id, Q(ended_at=None) | Q(ended_at__gt=decision.created_at))
    if unread:
        raise ParcelCame(unread[-1])


def noted_since(request_id: int, moment: datetime) -> list[Receipt]:
    """Receipts whose run has ended since; it left a line in the timeline when another run was about to go on."""
    return _receipts(request_id, Q(ended_at__gt=moment))


def put_noted_on_the_card(run: Run) -> None:
    """Names them on the open card, if there is one; belongs into the transaction that ends `run` with a card."""
    for receipt in noted_since(run.request_id, run.created_at):
        add_concern(run.request_id, f"{what_came(receipt)}.")


def _receipts(request_id: int, which: Q) -> list[Receipt]:
    runs = Run.objects.filter(which, request_id=request_id, trigger=Run.Trigger.RECEIPT)
    sources = list(runs.values_list("source_id", flat=True))
    receipts = Receipt.objects.filter(pk__in=sources).select_related("parcel__request")
    return list(receipts.order_by("created_at", "id")) if sources else []
