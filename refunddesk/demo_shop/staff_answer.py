"""What staff decided about a resolved request, and the run that carried it out."""

from __future__ import annotations

from datetime import timedelta

from agent import customer_messages
from agent.link_facts import decided_reserve_facts, decision_facts
from agent.models import Approval, ChainRecord, Decision, Run
from intake.statuses import Status
from refunddesk.demo_shop import people_steps
from refunddesk.demo_shop.case import Answer
from refunddesk.demo_shop.parcel import await_parcel
from refunddesk.demo_shop.past_runs import begin_run, end_run
from refunddesk.demo_shop.scene import SECOND, Scene
from refunddesk.demo_shop.tape import insert


def answer_card(scene: Scene, approval: Approval) -> Status:
    """Closes the card with its decision, carries it out and returns where the request ended."""
    tape, answer = scene.tape, scene.case.answer
    approval.closed_at = tape.wait(timedelta(minutes=answer.after_minutes))
    insert(approval)
    decision = _decision(scene, approval, answer)
    tape.add(people_steps.decided(decision, decision.decided_by, scene.request.currency))
    scene.link(ChainRecord.Kind.DECISION, decision.pk, decision_facts(decision))
    decision.carried_out_at = tape.wait(SECOND)
    insert(decision)
    key = f"dec:{approval.pk}"
    worded = answer.choice == Decision.Choice.DECLINE
    run = begin_run(scene.request, Run.Trigger.DECISION, key, decision.pk, at=tape.now, worded=worded)
    if worded:
        return _decline(scene, run, answer.message)
    if scene.case.parcel is not None:
        return await_parcel(scene, run, scene.case.parcel, decision)
    scene.pay(run, lambda refund: decided_reserve_facts(refund, scene.request, decision, None), automatic=False)
    return Status.REFUNDED


def _decision(scene: Scene, approval: Approval, answer: Answer) -> Decision:
    return Decision(
        approval=approval,
        choice=answer.choice,
        note=answer.note,
        amount_minor=approval.amount_minor if answer.choice == Decision.Choice.APPROVE else None,
        require_return=answer.require_return,
        decided_by=scene.history.people[answer.by],
        source=Decision.Source.SEED,
        created_at=scene.tape.now,
    )


def _decline(scene: Scene, run: Run, message: str) -> Status:
    scene.tape.wait(SECOND)
    scene.tape.add(people_steps.declined(run.pk))
    scene.tape.add(customer_messages.declined(run.pk, message))
    end_run(run, "declined", scene.tape.now)
    return Status.DECLINED
