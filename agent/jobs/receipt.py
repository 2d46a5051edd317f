"""A parcel arrived: what came back is refunded, or staff get a parcel nobody waits for any more."""

from __future__ import annotations

from agent.finish_refund import settle_and_finish
from agent.handover import add_concern, handed_over_step, manual_card, put_before_staff
from agent.jobs.refusal_to_staff import put_refusal_before_staff
from agent.lease import Lease
from agent.models import Run
from agent.pay import refund_decided
from agent.received_share import received_share
from agent.runs import last_transaction
from intake.models import Receipt, Step
from intake.statuses import Status
from intake.timeline import Entry, write_step
from payments.issue_refund import CANNOT_BE_PAID

# Where the money is out already or another run is about to decide, the parcel is noted and changes nothing.
NOTED_ONLY = frozenset({Status.SUBMITTED, Status.WORKING, Status.REFUNDING, Status.REFUNDED})


def pay_what_came_back(lease: Lease, run: Run) -> None:
    receipt = Receipt.objects.select_related("parcel__request").get(pk=run.source_id)
    if not run.moved_request:
        _tell_staff_of_late_parcel(lease, run, receipt)
        return
    shipping = receipt.parcel.shipping_minor
    units, goods = _units_and_price(receipt)
    if receipt.recorded_by_id == run.request.customer_id:
        sentence = "The customer's own account recorded the parcel; somebody else has to decide."
        put_refusal_before_staff(lease, run, sentence, amount_minor=goods)
        return
    if goods + shipping < 1:
        put_refusal_before_staff(lease, run, "What came back is worth less than the smallest amount.")
        return
    try:
        reserved = refund_decided(
            lease,
            amount_minor=goods + shipping,
            shipping_minor=shipping,
            units=units,
            receipt=receipt,
        )
    except CANNOT_BE_PAID as error:
        put_refusal_before_staff(lease, run, error, amount_minor=goods)
        return
    settle_and_finish(lease, reserved.refund_id)


def _units_and_price(receipt: Receipt) -> tuple[int, int]:
    parcel = receipt.parcel
    return received_share(
        agreed_minor=parcel.amount_minor - parcel.shipping_minor,
        agreed_units=parcel.agreed_units,
        came=receipt.units,
        asked_minor=parcel.request.amount_minor,
        asked_units=parcel.request.units,
    )


def _tell_staff_of_late_parcel(lease: Lease, run: Run, receipt: Receipt) -> None:
    request = run.request
    came = f"{receipt.units} of {request.units} units of the return {receipt.parcel.code} arrived"
    with last_transaction(lease, "parcel nobody waited for: told staff"):
        if request.status in NOTED_ONLY or add_concern(request.pk, f"{came} although nobody waited for it any more."):
            write_step(request.pk, _late_step(run, came))
            return
        card = manual_card(
            request, f"{came} after the request had been settled otherwise.", amount_minor=_units_and_price(receipt)[1]
        )
        write_step(request.pk, _late_step(run, came))
        approval = put_before_staff(request, card, run_id=run.pk, sources=[Status(request.status)])
        write_step(request.pk, handed_over_step(approval, request, run.pk))


def _late_step(run: Run, came: str) -> Entry:
    return Entry(
        kind=Step.Kind.TRIGGER,
        actor=Step.Actor.SYSTEM,
        title="A parcel arrived that nobody waited for",
        detail=f"{came}.",
        run_uuid=run.pk,
    )
