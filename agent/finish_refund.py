"""Brings a request with a reserved refund to where the provider's answer puts it; every road of news ends here."""

from __future__ import annotations

import uuid

from django.db import IntegrityError, transaction
from django.utils import timezone

from agent import customer_messages
from agent.handover import manual_card, put_before_staff
from agent.lease import Lease, LeaseLost
from agent.models import Approval, Run
from agent.receivers import queue_run
from agent.runs import last_transaction
from intake.lifecycle import move, try_move
from intake.models import RefundRequest, Step
from intake.statuses import Status
from intake.timeline import Entry, write_step
from payments.models import Refund, RefundOutcome
from payments.money import format_minor
from payments.providers.failed_refund import refused_by_bank
from payments.settle_refund import settle_refund


def settle_and_finish(lease: Lease, refund_id: uuid.UUID) -> None:
    """Asks the provider outside any transaction, then ends the run by its answer.

    Raises LeaseLost; the answer then goes on as news, since whoever has the run now may have ended it without one.
    """
    lease.renew()
    refund = settle_refund(refund_id, RefundOutcome.Source.RUN)
    try:
        with last_transaction(lease, f"refund {refund.status}"):
            apply_refund(RefundRequest.objects.get(pk=lease.request_id), refund, run_id=lease.run_id)
    except LeaseLost:
        leave_as_news(lease.request_id, refund)
        raise


def leave_as_news(request_id: int, refund: Refund) -> bool:
    """Queues the run of the refund's last outcome; False: there is none, or it had its run."""
    outcome = RefundOutcome.objects.filter(refund=refund, status=refund.status).order_by("created_at", "id").last()
    if outcome is None or Run.objects.filter(key=f"out:{outcome.pk}").exists():
        return False
    try:
        with transaction.atomic():
            queue_run(Run.Trigger.OUTCOME, f"out:{outcome.pk}", request_id, outcome)
    except IntegrityError:  # somebody else left the same news in this moment
        return False
    return True


def apply_refund(request: RefundRequest, refund: Refund, *, run_id: uuid.UUID) -> bool:
    """Moves the request to where `refund` puts it and says so; belongs into the caller's transaction.

    False: nothing to do, the news is old.
    """
    if refund.status == Refund.Status.SUCCEEDED:
        return _finish(request, refund, run_id)
    if refund.status == Refund.Status.FAILED:
        return _put_failure_before_staff(request, refund, run_id)
    return _say_what_it_waits_for(request, refund, run_id)


def take_the_card_back(request: RefundRequest, refund: Refund) -> None:
    """Brings a request that stands before staff to the end that `refund`, which succeeded, has put it to.

    Raises MoveRefused when it stands there no more.
    """
    with transaction.atomic():
        Approval.objects.filter(request=request, closed_at=None).update(closed_at=timezone.now())
        move(request.pk, Status.WORKING, sources=[Status.NEEDS_APPROVAL])
        move(request.pk, Status.REFUNDING)
        told = Step.objects.filter(request=request, message_key="refunded", created_at__gte=refund.reserved_at)
        if not told.exists():
            _finish(request, refund, refund.run_uuid)
            return
        move(request.pk, Status.REFUNDED)
        title = f"Nothing to decide: the refund of {_amount(refund)} is through"
        write_step(request.pk, _step(Step.Kind.FINISH, title, f"Reference {refund.reference}.", refund.run_uuid))


def _finish(request: RefundRequest, refund: Refund, run_id: uuid.UUID | None) -> bool:
    if not try_move(request.pk, Status.REFUNDED):
        return False
    title = f"Refunded {_amount(refund)} to {refund.card_brand} ending {refund.card_last4}"
    write_step(request.pk, _step(Step.Kind.FINISH, title, f"Reference {refund.reference}.", run_id))
    write_step(request.pk, customer_messages.refunded(run_id, refund))
    return True


def _put_failure_before_staff(request: RefundRequest, refund: Refund, run_id: uuid.UUID) -> bool:
    stands_on_it = (Status.REFUNDING, Status.REFUNDED)
    newer = Refund.objects.filter(request_uuid=request.uuid, attempt__gt=refund.attempt)
    if request.status not in stands_on_it or newer.exists():
        return False
    reason = refund.failure_reason or "no reason given"
    happened, late = _failure_words(refund)
    after = late if request.status == Status.REFUNDED else ""
    concern = f"{happened}{after}: {reason}.{_what_for(request, refund)}"
    card = manual_card(request, concern, amount_minor=refund.amount_minor - refund.shipping_minor)
    put_before_staff(request, card, run_id=run_id, sources=stands_on_it)
    write_step(request.pk, _step(Step.Kind.ERROR, happened, reason, run_id))
    write_step(request.pk, customer_messages.refund_did_not_go_through(run_id, refund))
    return True


def _say_what_it_waits_for(request: RefundRequest, refund: Refund, run_id: uuid.UUID) -> bool:
    """Each of the two messages once for a refund: that it is on its way, and that the customer has to do something."""
    waits = customer_messages.refund_needs_you if refund.waits_for_customer else customer_messages.on_its_way
    message = waits(run_id, refund)
    said = Step.objects.filter(request=request, message_key=message.message_key, created_at__gte=refund.reserved_at)
    if request.status != Status.REFUNDING or said.exists():
        return False
    detail = "The bank took it and is working on it."
    if refund.pending_reason:
        detail = f"The bank took it; it waits: {refund.pending_reason}."
    elif refund.status == Refund.Status.RESERVED:
        detail = "No answer yet; it is looked up again by itself."
    write_step(request.pk, _step(Step.Kind.FINISH, f"Refund of {_amount(refund)} is on its way", detail, run_id))
    write_step(request.pk, message)
    return True


def _failure_words(refund: Refund) -> tuple[str, str]:
    """What happened to a failed refund, by the bank or not, and what to add where it was said to be through."""
    if refused_by_bank(refund):
        return f"The bank refused the refund of {_amount(refund)}", " after it had said it was through"
    return f"The refund of {_amount(refund)} did not go through", " after the provider had said it was through"


def _what_for(request: RefundRequest, refund: Refund) -> str:
    """A sentence where it was not for all units or held shipping, since the card's amount shows neither."""
    units = f"{refund.units} of {request.units} units" if 0 < refund.units < request.units else ""
    shipping = f"{format_minor(refund.shipping_minor, refund.currency)} of shipping" if refund.shipping_minor else ""
    what = " and ".join(part for part in (units, shipping) if part)
    return f" It was for {what}." if units else f" It held {what}." if what else ""


def _amount(refund: Refund) -> str:
    return format_minor(refund.amount_minor, refund.currency)


def _step(kind: Step.Kind, title: str, detail: str, run_id: uuid.UUID | None) -> Entry:
    return Entry(kind=kind, actor=Step.Actor.AGENT, title=title, detail=detail, run_uuid=run_id)
