"""Carries out what a staff member decided; the model only words a decline."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from agent import customer_messages
from agent.decide import may_decide
from agent.handover import manual_card, put_before_staff, same_card_again
from agent.jobs.arrived import (
    ParcelCame,
    price_of_what_came,
    put_noted_on_the_card,
    refuse_if_a_parcel_came,
    what_came,
)
from agent.jobs.nothing_left import end_with_nothing_left
from agent.jobs.pay_decided import pay_decided
from agent.lease import Lease
from agent.models import Decision, Run
from agent.return_code import new_return_code
from agent.runs import last_transaction
from agent.word_decline import template, word_decline
from intake.case_access import is_own_request
from intake.lifecycle import move
from intake.models import Question, Receipt, Return, Step
from intake.names import name_of
from intake.shop_clock import deadline, deadline_name
from intake.statuses import Status
from intake.timeline import Entry, write_step
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
    elif decision.choice == Decision.Choice.APPROVE and not decision.require_return:
        _pay(lease, run, decision)
    else:
        _answer_the_customer(lease, run, decision)


def _answer_the_customer(lease: Lease, run: Run, decision: Decision) -> None:
    """Unless the item has come back, which whoever decided could not know."""
    try:
        if decision.choice == Decision.Choice.ASK_CUSTOMER:
            _ask_customer(lease, run, decision)
        elif decision.choice == Decision.Choice.DECLINE:
            _decline(lease, run, decision)
        else:
            _open_return(lease, run, decision)
    except ParcelCame as came:
        _set_aside_for_a_parcel(lease, run, decision, came.receipt)


def _pay(lease: Lease, run: Run, decision: Decision) -> None:
    pay_decided(
        lease,
        run,
        decision,
        amount_minor=decision.amount_minor or 0,
        shipping_minor=decision.shipping_minor,
        units=decision.units or run.request.units,
    )


def _open_return(lease: Lease, run: Run, decision: Decision) -> None:
    now, policy = timezone.now(), run.request.policy
    with last_transaction(lease, "return code sent"):
        refuse_if_a_parcel_came(run, decision)
        _mark_carried_out(decision)
        parcel = Return.objects.create(
            request=run.request,
            code=new_return_code(),
            amount_minor=decision.amount_minor or 0,
            shipping_minor=decision.shipping_minor,
            units=decision.units,
            ship_by=deadline(now, timedelta(days=policy.ship_within_days)),
            check_at=deadline(now, timedelta(minutes=policy.return_check_minutes)),
        )
        move(run.request_id, Status.AWAITING_RETURN, sources=[Status.WORKING])
        amount = format_minor(parcel.amount_minor, run.request.currency)
        detail = f"{amount} is refunded once it is back; the first check is after {deadline_name(parcel.check_at)}."
        write_step(run.request_id, _step(run, f"Sent the return code {parcel.code}", detail))
        write_step(run.request_id, customer_messages.return_code(run.pk, parcel))


def _ask_customer(lease: Lease, run: Run, decision: Decision) -> None:
    reply_by = deadline(timezone.now(), timedelta(days=run.request.policy.reply_days))
    with last_transaction(lease, "question asked"):
        refuse_if_a_parcel_came(run, decision)
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
        refuse_if_a_parcel_came(run, decision)
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
        put_noted_on_the_card(run)
        write_step(run.request_id, _step(run, "Set the decision aside", sentence))


def _set_aside_for_a_parcel(lease: Lease, run: Run, decision: Decision, receipt: Receipt) -> None:
    sentence = f"{what_came(receipt)} before the decision could be carried out, so it was set aside."
    with last_transaction(lease, "decision set aside: a parcel came"):
        Decision.objects.filter(pk=decision.pk).update(set_aside_at=timezone.now())
        card = manual_card(run.request, sentence, amount_minor=price_of_what_came(receipt)[1])
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
