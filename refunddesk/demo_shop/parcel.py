"""A return of a resolved request: the code, the checks, and the parcel that came or never did."""

from __future__ import annotations

from datetime import timedelta

from agent import customer_messages
from agent.link_facts import decided_reserve_facts
from agent.models import Decision, Run
from intake.models import Receipt, Return
from intake.shop_clock import deadline
from intake.statuses import Status
from refunddesk.demo_shop import people_steps
from refunddesk.demo_shop.case import Arrival, Parcel
from refunddesk.demo_shop.past_runs import begin_run, end_run
from refunddesk.demo_shop.scene import SECOND, Scene
from refunddesk.demo_shop.tape import insert

A_WEEK = timedelta(days=7)


def await_parcel(scene: Scene, run: Run, plan: Parcel, decision: Decision) -> Status:
    """Sends the code in `run`; returns where the request ended."""
    tape = scene.tape
    parcel = Return(
        request=scene.request,
        code=plan.code,
        amount_minor=scene.request.amount_minor,
        ship_by=deadline(tape.now, A_WEEK),
        check_at=deadline(tape.now, A_WEEK),
        created_at=tape.now,
    )
    tape.add(people_steps.code_sent(run.pk, parcel, scene.request))
    tape.add(customer_messages.return_code(run.pk, parcel))
    end_run(run, "return code sent", tape.now)
    if plan.arrival is None:
        return _never_comes(scene, parcel)
    return _comes(scene, parcel, plan.arrival, decision)


def _comes(scene: Scene, parcel: Return, arrival: Arrival, decision: Decision) -> Status:
    request, tape, history = scene.request, scene.tape, scene.history
    parcel.status = Return.Status.RECEIVED
    insert(parcel)
    tape.now = history.calendar.at(scene.case.asked - arrival.after_days, arrival.clock)
    by = history.people[arrival.recorded_by]
    receipt = insert(
        Receipt(
            parcel=parcel,
            units=scene.case.units,
            recorded_by=by,
            source="seed",
            created_at=tape.now,
        )
    )
    tape.add(people_steps.received(by))
    tape.wait(SECOND)
    run = begin_run(request, Run.Trigger.RECEIPT, f"rcv:{receipt.pk}", receipt.pk, at=tape.now)
    scene.pay(run, lambda refund: decided_reserve_facts(refund, request, decision, receipt), automatic=False)
    check = begin_run(request, Run.Trigger.CHECK, f"chk:{parcel.pk}:1", parcel.pk, at=parcel.check_at)
    check.moved_request = False
    end_run(check, "nothing left to do", parcel.check_at + SECOND)
    return Status.REFUNDED


def _never_comes(scene: Scene, parcel: Return) -> Status:
    request, tape = scene.request, scene.tape
    reminded_at = parcel.check_at
    parcel.reminded_at, parcel.check_at = reminded_at, deadline(reminded_at, A_WEEK)
    parcel.status = Return.Status.CLOSED
    insert(parcel)

    tape.now = reminded_at
    run = begin_run(request, Run.Trigger.CHECK, f"chk:{parcel.pk}:1", parcel.pk, at=tape.now)
    tape.add(people_steps.checked(run.pk, parcel, again=False))
    tape.add(people_steps.reminded(run.pk))
    tape.add(customer_messages.return_reminder(run.pk, parcel))
    end_run(run, "return missing: reminded", tape.wait(SECOND))

    tape.now = parcel.check_at
    run = begin_run(request, Run.Trigger.CHECK, f"chk:{parcel.pk}:2", parcel.pk, at=tape.now)
    tape.add(people_steps.checked(run.pk, parcel, again=True))
    tape.add(people_steps.closed(run.pk))
    tape.add(customer_messages.closed(run.pk))
    end_run(run, "return missing: closed", tape.wait(SECOND))
    return Status.CLOSED
