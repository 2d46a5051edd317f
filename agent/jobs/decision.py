"""Carries out what a staff member decided; the model only words a decline."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from agent import customer_messages
from agent.decide import may_decide
from agent.finish_refund import settle_and_finish
from agent.handover import put_before_staff, same_card_again
from agent.jobs.nothing_left import end_with_nothing_left
from agent.jobs.refusal_to_staff import put_refusal_before_staff
from agent.lease import Lease
from agent.models import Decision, Run
from agent.pay import refund_decided
from agent.return_code import new_return_code
from agent.runs import last_transaction
from agent.word_decline import template, word_decline
from intake.case_access import is_own_request
from intake.lifecycle import move
from intake.models import Question, Return, Step
from intake.names import name_of
from intake.statuses import Status
from intake.timeline import Entry, write_step
from payments.issue_refund import CANNOT_BE_PAID
from payments.money import format_minor

TOLD = "The customer was told in a message."
TOLD_WITHOUT_REASON = f"{TOLD} The reason was left out: it has a link, markup or a word of our own work in it."


def carry_out_decision(lease: Lease, run: Run) -> None:
    """Once: a decision that was carried out or set aside leaves nothing to do."""
    decision = Decision.objects.select_related("approval", "decided_by").get(pk=run.source_id)
    if decision.carried_out_at is not None or decision.set_aside_at is not None:
        end_with_nothing_left(lease)
    elif run.request.status != Status.WORKING:
        _say_it_came_too_late(lease, run, decision)
    elif not may_decide(decision.decided_by):
        _set_aside(lease, run, decision, f"{_name(decision)} may not decide requests any more")
    elif is_own_request(decision.decided_by, run.request):
        _set_aside(lease, run, decision, f"{_name(decision)} may not decide a request of their own")
    elif decision.choice == Decision.Choice.ASK_CUSTOMER:
        _ask_customer(lease, run, decision)
    elif decision.choice == Decision.Choice.DECLINE:
        _decline(lease, run, decision)
    elif decision.require_return:
        _open_return(lease, run, decision)
    else:
        _pay(lease, run, decision)


def _pay(lease: Lease, run: Run, decision: Decision) -> None:
    amount = decision.amount_minor or 0
    try:
        reserved = refund_decided(
            lease,
            amount_minor=amount,
            shipping_minor=decision.shipping_minor,
            units=decision.units or run.request.units,
            decision=decision,
        )
    except CANNOT_BE_PAID as error:
        goods = amount - decision.shipping_minor
        put_refusal_before_staff(lease, run, error, amount_minor=goods, decision=decision)
        return
    settle_and_finish(lease, reserved.refund_id)


def _open_return(lease: Lease, run: Run, decision: Decision) -> None:
    now, policy = timezone.now(), run.request.policy
    with last_transaction(lease, "return code sent"):
        _mark_carried_out(decision)
        parcel = Return.objects.create(
            request=run.request,
            code=new_return_code(),
            amount_minor=decision.amount_minor or 0,
            shipping_minor=decision.shipping_minor,
            units=decision.units,
            ship_by=now + timedelta(days=policy.ship_within_days),
            check_at=now + timedelta(minutes=policy.return_check_minutes),
        )
        move(run.request_id, Status.AWAITING_RETURN, sources=[Status.WORKING])
        amount = format_minor(parcel.amount_minor, run.request.currency)
        first_check = customer_messages.day_name(parcel.check_at)
        detail = f"{amount} is refunded once it is back; the first check is on {first_check}."
        write_step(run.request_id, _step(run, f"Sent the return code {parcel.code}", detail))
        write_step(run.request_id, customer_messages.return_code(run.pk, parcel))


def _ask_customer(lease: Lease, run: Run, decision: Decision) -> None:
    reply_by = timezone.now() + timedelta(days=run.request.policy.reply_days)
    with last_transaction(lease, "question asked"):
        _mark_carried_out(decision)
        asked = Question.objects.create(
            request=run.request, text=decision.note, asked_by=decision.decided_by, reply_by=reply_by
        )
        move(run.request_id, Status.NEEDS_CUSTOMER, sources=[Status.WORKING])
        days = run.request.policy.reply_days
        write_step(run.request_id, _step(run, "Asked the customer", f"The answer is awaited for {days} days."))
        write_step(run.request_id, customer_messages.question(run.pk, asked.text, asked.reply_by, decision.decided_by))


def _decline(lease: Lease, run: Run, decision: Decision) -> None:
    text = word_decline(lease, request_id=run.request_id, note=decision.note)
    left_out = text == template(run.request.line.name, "")
    with last_transaction(lease, "declined"):
        _mark_carried_out(decision)
        move(run.request_id, Status.DECLINED, sources=[Status.WORKING])
        write_step(run.request_id, _step(run, "Declined the request", TOLD_WITHOUT_REASON if left_out else TOLD))
        write_step(run.request_id, customer_messages.declined(run.pk, text))


def _name(decision: Decision) -> str:
    return name_of(decision.decided_by)


def _set_aside(lease: Lease, run: Run, decision: Decision, why: str) -> None:
    """Who may not decide any more has not decided: the same recommendation stands as a new card."""
    sentence = f"{why}, so the decision was set aside."
    with last_transaction(lease, "decision set aside"):
        Decision.objects.filter(pk=decision.pk).update(set_aside_at=timezone.now())
        card = same_card_again(decision.approval, sentence)
        put_before_staff(run.request, card, run_id=run.pk, sources=[Status.WORKING])
        write_step(run.request_id, _step(run, "Set the decision aside", sentence))


def _say_it_came_too_late(lease: Lease, run: Run, decision: Decision) -> None:
    """Staff have the request already, for another reason than this decision."""
    with last_transaction(lease, "decision came too late"):
        Decision.objects.filter(pk=decision.pk).update(set_aside_at=timezone.now())
        detail = "The request had moved on before it could be carried out."
        write_step(run.request_id, _step(run, "Set the decision aside", detail))


def _mark_carried_out(decision: Decision) -> None:
    Decision.objects.filter(pk=decision.pk).update(carried_out_at=timezone.now())


def _step(run: Run, title: str, detail: str) -> Entry:
    return Entry(kind=Step.Kind.FINISH, actor=Step.Actor.AGENT, title=title, detail=detail, run_uuid=run.pk)
