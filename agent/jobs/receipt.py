"""A parcel arrived: what came back is refunded, or staff get a parcel nobody waits for any more."""

from __future__ import annotations

from agent.decision_behind import decision_behind
from agent.handover import add_concern, handed_over_step, manual_card, put_before_staff
from agent.jobs.arrived import price_of_what_came, what_came
from agent.jobs.pay_decided import pay_decided
from agent.jobs.refusal_to_staff import put_refusal_before_staff
from agent.lease import Lease
from agent.models import Decision, Run
from agent.runs import last_transaction
from intake.models import Receipt, Return, Step
from intake.statuses import Status
from intake.timeline import Entry, write_step
from payments.money import format_minor

# Where the money is out already, the parcel is noted and changes nothing; a run that is about to go on reads the note.
NOTED_ONLY = frozenset({Status.SUBMITTED, Status.WORKING, Status.REFUNDING, Status.REFUNDED})


def pay_what_came_back(lease: Lease, run: Run) -> None:
    receipt = Receipt.objects.select_related("parcel__request").get(pk=run.source_id)
    if not run.moved_request:
        _tell_staff_of_late_parcel(lease, run, receipt)
        return
    decision = decision_behind(receipt.parcel)
    units, goods = price_of_what_came(receipt, decision)
    if receipt.recorded_by_id == run.request.customer_id:
        sentence = "The customer's own account recorded the parcel; somebody else has to decide."
        put_refusal_before_staff(lease, run, sentence, amount_minor=goods)
    elif decision is None or _agreed(receipt.parcel) != _decided(decision, run):
        put_refusal_before_staff(lease, run, _not_as_decided(receipt.parcel, decision, run), amount_minor=goods)
    elif goods + decision.shipping_minor < 1:
        put_refusal_before_staff(lease, run, "What came back is worth less than the smallest amount.")
    else:
        shipping = decision.shipping_minor
        amount = goods + shipping
        pay_decided(lease, run, decision, amount_minor=amount, shipping_minor=shipping, units=units, receipt=receipt)


def _agreed(parcel: Return) -> tuple[int, int, int]:
    """Amount with shipping, shipping and units, as `_decided`."""
    return parcel.amount_minor, parcel.shipping_minor, parcel.agreed_units


def _decided(decision: Decision, run: Run) -> tuple[int, int, int]:
    return decision.amount_minor or 0, decision.shipping_minor, decision.units or run.request.units


def _not_as_decided(parcel: Return, decision: Decision | None, run: Run) -> str:
    if decision is None:
        return f"No decision stands behind the return {parcel.code}, so nothing was paid."
    decided, agreed = (_in_words(*each, run.request.currency) for each in (_decided(decision, run), _agreed(parcel)))
    return f"The return {parcel.code} is not as it was decided, so nothing was paid: {agreed} instead of {decided}."


def _in_words(amount_minor: int, shipping_minor: int, units: int, currency: str) -> str:
    amount, shipping = format_minor(amount_minor, currency), format_minor(shipping_minor, currency)
    return f"{amount} ({shipping} of it shipping) for {units} {'unit' if units == 1 else 'units'}"


def _tell_staff_of_late_parcel(lease: Lease, run: Run, receipt: Receipt) -> None:
    request = run.request
    came = what_came(receipt)
    with last_transaction(lease, "parcel nobody waited for: told staff"):
        if request.status in NOTED_ONLY or add_concern(request.pk, f"{came} although nobody waited for it any more."):
            write_step(request.pk, _late_step(run, came))
            return
        card = manual_card(
            request,
            f"{came} after the request had been settled otherwise.",
            amount_minor=price_of_what_came(receipt)[1],
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
