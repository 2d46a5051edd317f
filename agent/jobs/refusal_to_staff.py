"""A decided refund that cannot be paid as decided: staff get the request back and read why."""

from __future__ import annotations

from django.utils import timezone

from agent.handover import handed_over_step, manual_card, put_before_staff
from agent.jobs.arrived import put_noted_on_the_card
from agent.lease import Lease
from agent.models import Decision, Run
from agent.runs import last_transaction
from intake.models import Step
from intake.statuses import Status
from intake.timeline import Entry, write_step
from payments.issue_refund import AbovePrice, NoChargeHolds, RefundInFlight, ShippingAlreadyBack
from payments.money import format_minor


def put_refusal_before_staff(
    lease: Lease,
    run: Run,
    why: NoChargeHolds | AbovePrice | ShippingAlreadyBack | RefundInFlight | str,
    *,
    amount_minor: int | None = None,
    decision: Decision | None = None,
) -> None:
    """Ends the run with a new card; the decision, if one led here, is done with. `amount_minor`: without shipping."""
    sentence = why if isinstance(why, str) else _sentence(why, run.request.currency)
    with last_transaction(lease, "could not be paid as decided: back to staff"):
        if decision is not None:
            Decision.objects.filter(pk=decision.pk).update(carried_out_at=timezone.now())
        card = manual_card(run.request, sentence, amount_minor=amount_minor)
        approval = put_before_staff(run.request, card, run_id=run.pk, sources=[Status.WORKING])
        put_noted_on_the_card(run)
        write_step(
            run.request_id,
            Entry(
                kind=Step.Kind.ERROR,
                actor=Step.Actor.AGENT,
                title="The refund could not be made as decided",
                detail=sentence,
                run_uuid=run.pk,
            ),
        )
        write_step(run.request_id, handed_over_step(approval, run.request, run.pk))


def _sentence(why: NoChargeHolds | AbovePrice | ShippingAlreadyBack | RefundInFlight, currency: str) -> str:
    if isinstance(why, AbovePrice):
        most = format_minor(why.most_minor, currency)
        return f"The customer paid {most} for these units, and more than that was to go back. Look at the order."
    if isinstance(why, NoChargeHolds):
        left = format_minor(why.largest_left_minor, currency)
        return f"No single payment of this order holds the amount; at most {left} is left on one."
    if isinstance(why, RefundInFlight):
        return "The request has a refund already; only after a failed one can there be another."
    return f"Of the shipping of this order, {format_minor(why.left_minor, currency)} is left to give back."
