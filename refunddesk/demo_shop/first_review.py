"""The first run of a resolved request: paid at once, or handed over to staff."""

from __future__ import annotations

from typing import Any

from django.db.models import F
from django.utils import timezone

from agent import customer_messages
from agent.handover import card_of, handed_over_step
from agent.link_facts import automatic_reserve_facts
from agent.models import Approval, BudgetDay, Run
from agent.outcomes import Handover, PhotoEvidence, Point
from intake.rules import PAYABLE_REASONS, Facts, Verdict, failed, for_staff, judge
from payments.models import Refund
from refunddesk.demo_shop.case import Finding, Look
from refunddesk.demo_shop.past_runs import begin_run, end_run
from refunddesk.demo_shop.review_steps import look_ups, recommended, rules_asked
from refunddesk.demo_shop.rules_then import facts_then
from refunddesk.demo_shop.scene import SECOND, Scene


def review(scene: Scene) -> Approval | None:
    """The card it ended with, unsaved (its answer saves it); None when the money went back at once."""
    scene.tape.wait(SECOND)
    run, facts = _begin(scene)
    verdicts = judge(facts)
    if scene.case.automatic and scene.case.look and not failed(verdicts):
        _refund_at_once(scene, run, facts, scene.case.look)
        return None
    return _hand_over(scene, run, verdicts)


def _refund_at_once(scene: Scene, run: Run, facts: Facts, look: Look) -> None:
    verdicts = judge(facts)
    _ask_the_rules(scene, run, verdicts)
    evidence = PhotoEvidence(verdict=look.verdict, explanation=look.explanation)

    def facts_of(refund: Refund) -> dict[str, Any]:
        return automatic_reserve_facts(refund, scene.request, facts, verdicts, evidence)

    refund = scene.pay(run, facts_of, automatic=True)
    day, _ = BudgetDay.objects.get_or_create(day=timezone.localdate(refund.reserved_at), currency=refund.currency)
    BudgetDay.objects.filter(pk=day.pk).update(spent_minor=F("spent_minor") + refund.amount_minor)


def _hand_over(scene: Scene, run: Run, verdicts: tuple[Verdict, ...]) -> Approval:
    look, advice = scene.case.look, scene.case.advice
    looked_clear = scene.case.reason in PAYABLE_REASONS and look is not None and look.verdict == "yes"
    if looked_clear and failed(verdicts):
        _ask_the_rules(scene, run, verdicts)
    scene.tape.add_all(run.pk, [recommended(advice)])
    handover = Handover(
        recommendation=advice.recommendation,
        reasoning=advice.reasoning,
        findings=_points(scene, advice.findings),
        concerns=_points(scene, advice.concerns),
        draft_question=advice.draft_question,
        failed_rules=for_staff(verdicts),
        rules_step=scene.positions.get("issue_refund"),
        counter_case=_points(scene, (advice.against,))[0],
        would_change=advice.would_change,
    )
    card = vars(card_of(handover, scene.request))
    approval = Approval(request=scene.request, run=run, opened_at=scene.tape.now, **card)
    scene.tape.add(handed_over_step(approval, scene.request, run.pk))
    scene.tape.add(customer_messages.person_is_looking(run.pk))
    end_run(run, f"handed over: {advice.recommendation}", scene.tape.now)
    return approval


def _begin(scene: Scene) -> tuple[Run, Facts]:
    """The look-ups, and what the rules look at."""
    request, earlier = scene.request, scene.earlier_refunds
    key = f"req:{request.pk}"
    run = begin_run(request, Run.Trigger.REQUEST, key, request.pk, at=scene.tape.now, worded=True)
    scene.positions = scene.tape.add_all(run.pk, look_ups(scene.case, request, scene.charge, earlier))
    return run, facts_then(scene.case, request, timezone.localdate(scene.tape.now), earlier)


def _ask_the_rules(scene: Scene, run: Run, verdicts: tuple[Verdict, ...]) -> None:
    reason = "The photo shows what the customer describes, and the amount is theirs to have back."
    scene.positions |= scene.tape.add_all(run.pk, [rules_asked(scene.request, verdicts, reason)])
    run.verdicts = [verdict.as_json() for verdict in verdicts]


def _points(scene: Scene, findings: tuple[Finding, ...]) -> tuple[Point, ...]:
    return tuple(Point(finding.text, scene.positions.get(finding.tool)) for finding in findings)
