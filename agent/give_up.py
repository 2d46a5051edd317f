"""The end of a run that failed for good: a person gets the request, unless money is on its way."""

from __future__ import annotations

import uuid

from django.db import transaction
from django.utils import timezone

from agent import customer_messages
from agent.announce import announce_next_after_commit
from agent.finish_refund import apply_refund
from agent.handover import manual_card, put_before_staff
from agent.jobs.arrived import put_noted_on_the_card
from agent.models import Decision, Run
from intake.models import RefundRequest, Step
from intake.statuses import ENDS, Status
from intake.timeline import Entry, finish_step, write_step
from payments.models import Refund

SENTENCE = "The agent could not finish its work on this request, so a person takes it from here."
# Its money, not the failed run, says where such a request belongs.
STANDS_ON_A_REFUND = (Status.REFUNDING, Status.REFUNDED)
# News that makes an end untrue brings a request back to staff, also when the run for it fails.
NEWS = (Run.Trigger.OUTCOME, Run.Trigger.RECEIPT)


def give_up(run_id: uuid.UUID, token: uuid.UUID | None, reason: str) -> bool:
    """Ends the run as failed, if `token` still holds it, and brings its request to rest in the same transaction."""
    with transaction.atomic():
        held = Run.objects.filter(pk=run_id, token=token, status=Run.Status.RUNNING)
        ended = held.update(
            status=Run.Status.FAILED, result=reason[:200], ended_at=timezone.now(), token=None, lease_until=None
        )
        if not ended:
            return False
        run = Run.objects.select_related("request").select_for_update(no_key=True).get(pk=run_id)
        end_leftover_steps(run)
        _bring_to_rest(run, reason)
        announce_next_after_commit(run.request_id)
    return True


def rescue(request: RefundRequest) -> None:
    """Brings a request to staff that stands in work although no run is there to work on it."""
    with transaction.atomic():
        write_step(request.pk, _error_step(None, "No run was left to work on it."))
        put_before_staff(request, manual_card(request, SENTENCE), run_id=None, sources=[Status(request.status)])
        write_step(request.pk, customer_messages.person_is_looking(None))


def end_leftover_steps(run: Run) -> None:
    """Steps a dead try left as running are over; belongs into a transaction."""
    left = Step.objects.filter(request_id=run.request_id, run_uuid=run.pk, state=Step.State.RUNNING)
    for step_id in left.values_list("pk", flat=True):
        finish_step(step_id, state=Step.State.FAILED, detail="Interrupted; the work starts over.")


def _bring_to_rest(run: Run, reason: str) -> None:
    request = run.request
    refund = Refund.objects.filter(request_uuid=request.uuid).order_by("-attempt").first()
    write_step(request.pk, _error_step(run.pk, reason))
    if request.status in STANDS_ON_A_REFUND and refund is not None:
        apply_refund(request, refund, run_id=run.pk)
        return
    if run.trigger == Run.Trigger.DECISION:
        undone = Decision.objects.filter(pk=run.source_id, carried_out_at=None, set_aside_at=None)
        undone.update(set_aside_at=timezone.now())
    if request.status != Status.NEEDS_APPROVAL and (request.status not in ENDS or run.trigger in NEWS):
        put_before_staff(request, manual_card(request, SENTENCE), run_id=run.pk)
        write_step(request.pk, customer_messages.person_is_looking(run.pk))
    put_noted_on_the_card(run)


def _error_step(run_id: uuid.UUID | None, reason: str) -> Entry:
    return Entry(
        kind=Step.Kind.ERROR,
        actor=Step.Actor.SYSTEM,
        title="The agent could not finish",
        detail=reason,
        run_uuid=run_id,
    )
