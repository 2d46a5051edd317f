"""Steps of a timeline that people cause, and the agent's own short ones around money and parcels."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.models import User

from agent.models import Decision
from intake.models import RefundRequest, Return, Step
from intake.shop_clock import deadline_name
from intake.timeline import Entry
from payments.models import Refund
from payments.money import format_minor


def asked(request: RefundRequest) -> Entry:
    return Entry(
        kind=Step.Kind.TRIGGER,
        actor=Step.Actor.CUSTOMER,
        actor_user=request.customer,
        title="You asked for a refund",
        detail=request.details,
        for_customer=True,
    )


def received(by: User) -> Entry:
    return Entry(
        kind=Step.Kind.TRIGGER, actor=Step.Actor.STAFF, actor_user=by, title="Your parcel arrived", for_customer=True
    )


def decided(decision: Decision, by: User, currency: str) -> Entry:
    what = {
        Decision.Choice.ASK_CUSTOMER: "wants to ask the customer",
        Decision.Choice.DECLINE: "declined the request",
    }.get(Decision.Choice(decision.choice), "")
    if decision.amount_minor is not None:
        back = " once the item is back" if decision.require_return else ""
        what = f"approved a refund of {format_minor(decision.amount_minor, currency)}{back}"
    return Entry(
        kind=Step.Kind.TRIGGER,
        actor=Step.Actor.STAFF,
        actor_user=by,
        title=f"{by.get_full_name()} {what}",
        detail=decision.note,
    )


def refund_started(run_id: UUID, refund: Refund) -> Entry:
    title = f"Refund of {_amount(refund)} to {refund.card_brand} ending {refund.card_last4} started"
    return _agent(Step.Kind.ACTION, title, f"Reference {refund.reference}.", run_id)


def refund_done(run_id: UUID, refund: Refund) -> Entry:
    title = f"Refunded {_amount(refund)} to {refund.card_brand} ending {refund.card_last4}"
    return _agent(Step.Kind.FINISH, title, f"Reference {refund.reference}.", run_id)


def declined(run_id: UUID) -> Entry:
    return _agent(Step.Kind.FINISH, "Declined the request", "The customer was told in a message.", run_id)


def code_sent(run_id: UUID, parcel: Return, request: RefundRequest) -> Entry:
    amount = format_minor(parcel.amount_minor, request.currency)
    detail = f"{amount} is refunded once it is back; the first check is after {deadline_name(parcel.check_at)}."
    return _agent(Step.Kind.FINISH, f"Sent the return code {parcel.code}", detail, run_id)


def checked(run_id: UUID, parcel: Return, *, again: bool) -> Entry:
    title = f"Return {parcel.code} checked{' again' if again else ''}"
    detail = "It has not come." if again else "It has not come yet."
    return Entry(kind=Step.Kind.TRIGGER, actor=Step.Actor.SYSTEM, title=title, detail=detail, run_uuid=run_id)


def reminded(run_id: UUID) -> Entry:
    return _agent(Step.Kind.FINISH, "Reminded the customer", "Checked again once more.", run_id)


def closed(run_id: UUID) -> Entry:
    return _agent(Step.Kind.FINISH, "Closed the request", "The return never came.", run_id)


def _agent(kind: Step.Kind, title: str, detail: str, run_id: UUID) -> Entry:
    return Entry(kind=kind, actor=Step.Actor.AGENT, title=title, detail=detail, run_uuid=run_id)


def _amount(refund: Refund) -> str:
    return format_minor(refund.amount_minor, refund.currency)
