"""The one place where the agent reserves money: fence, locks in one order, fresh facts, the rules, then the row."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import F
from django.utils import timezone

from agent.chain import append_link
from agent.decision_behind import decision_behind
from agent.facts import gather_facts, look_alike_numbers, shop_day, spent_today
from agent.hear_before_paying import hear_before_paying
from agent.lease import Lease
from agent.link_facts import automatic_reserve_facts, decided_reserve_facts
from agent.models import BudgetDay, ChainRecord, Decision, Run
from agent.outcomes import Blocked, PhotoEvidence, Reserved
from agent.own_price import own_price_now, price_of_part
from agent.pause import lock_switch
from intake.lifecycle import move
from intake.models import Receipt, RefundRequest, Step
from intake.rules import Verdict, failed, judge
from intake.statuses import Status
from intake.timeline import Entry, write_step
from payments.issue_refund import AbovePrice, NoChargeHolds, issue_refund
from payments.models import Refund
from payments.money import format_minor


def judge_now(request_id: int, evidence: PhotoEvidence) -> tuple[Verdict, ...]:
    """Every rule's verdict on the facts of this moment, without locks: for reading, never for paying."""
    request = _request(request_id)
    looks_like = look_alike_numbers(request_id)
    facts = gather_facts(request, evidence, spent_today(request.policy.currency), looks_like)
    return (*judge(facts), *_unless_priced_right(request))


def refund_automatically(lease: Lease, evidence: PhotoEvidence) -> Reserved | Blocked:
    """Reserves the request's amount if every rule allows it; the verdicts are kept on the run either way.

    One transaction: switch, budget day and customer are locked before the facts are read, the charge before the
    balance. Only the pictures are compared with others' before it (`look_alike_numbers` says why that is safe), and
    the provider is asked what went back by hand: the history counts it.
    Raises LeaseLost, MoveRefused (the request is not being worked on) or RefundInFlight; then nothing is written.
    """
    looks_like = look_alike_numbers(lease.request_id)
    asked = _request(lease.request_id)
    hear_before_paying(lease, asked.line.order_id, asked.amount_minor)
    with lease.fenced():
        lock_switch()
        request = _request(lease.request_id)
        budget = _lock_budget_day(request)
        _lock_customer(request)
        facts = gather_facts(request, evidence, budget.spent_minor, looks_like)
        verdicts, refund = (*judge(facts), *_unless_priced_right(request)), None
        if not failed(verdicts):
            refund, verdicts = _reserve_or_ask(lease, request, verdicts)
        Run.objects.filter(pk=lease.run_id).update(verdicts=[verdict.as_json() for verdict in verdicts])
        if refund is None:
            return Blocked(failed=failed(verdicts), verdicts=verdicts)
        BudgetDay.objects.filter(pk=budget.pk).update(spent_minor=F("spent_minor") + refund.amount_minor)
        move(request.pk, Status.REFUNDING, sources=[Status.WORKING])
        link = automatic_reserve_facts(refund, request, facts, verdicts, evidence)
        append_link(request.pk, ChainRecord.Kind.RESERVE, refund.pk, link)
    return Reserved(refund_id=refund.pk, verdicts=verdicts)


def refund_decided(
    lease: Lease,
    *,
    amount_minor: int,
    shipping_minor: int,
    units: int,
    decision: Decision | None = None,
    receipt: Receipt | None = None,
) -> Reserved:
    """Reserves what staff decided (`amount_minor` with shipping); only the price and the balance are checked.

    The decision, when one is given, counts as carried out with it; `receipt` says what came back of a return that an
    earlier decision had opened. Raises LeaseLost, MoveRefused, AbovePrice,
    NoChargeHolds, ShippingAlreadyBack or RefundInFlight; then nothing is written.
    """
    with lease.fenced():
        request = _request(lease.request_id)
        _lock_customer(request)
        _refuse_above_price(request, units, amount_minor - shipping_minor)
        refund = issue_refund(
            order_id=request.line.order_id,
            line_id=request.line_id,
            request_uuid=request.uuid,
            run_uuid=lease.run_id,
            units=units,
            amount_minor=amount_minor,
            shipping_minor=shipping_minor,
            currency=request.currency,
            automatic=False,
        )
        move(request.pk, Status.REFUNDING, sources=[Status.WORKING])
        if decision is not None:
            Decision.objects.filter(pk=decision.pk).update(carried_out_at=timezone.now())
        write_step(request.pk, _reserved_step(lease, refund))
        behind = decision if receipt is None else decision_behind(receipt.parcel)
        link = decided_reserve_facts(refund, request, behind, receipt)
        append_link(request.pk, ChainRecord.Kind.RESERVE, refund.pk, link)
    return Reserved(refund_id=refund.pk)


def _reserve_or_ask(
    lease: Lease, request: RefundRequest, verdicts: tuple[Verdict, ...]
) -> tuple[Refund | None, tuple[Verdict, ...]]:
    try:
        refund = issue_refund(
            order_id=request.line.order_id,
            line_id=request.line_id,
            request_uuid=request.uuid,
            run_uuid=lease.run_id,
            units=request.units,
            amount_minor=request.amount_minor,
            currency=request.currency,
            automatic=True,
        )
    except NoChargeHolds as error:
        return None, (*verdicts, _balance_verdict(request, error.largest_left_minor))
    return refund, verdicts


def _unless_priced_right(request: RefundRequest) -> tuple[Verdict, ...]:
    """Nothing as a rule. What was paid for the line says what the request costs, whatever stands on the request."""
    price = own_price_now(request)
    if price == request.amount_minor:
        return ()
    asked, costs = (format_minor(each, request.currency) for each in (request.amount_minor, price))
    verdict = Verdict(
        rule="amount",
        inputs={"amount_minor": request.amount_minor, "price_minor": price},
        outcome="ask",
        sentence=f"The request stands at {asked}, and by what was paid its units cost {costs}.",
    )
    return (verdict,)


def _refuse_above_price(request: RefundRequest, units: int, goods_minor: int) -> None:
    most = price_of_part(own_price_now(request), request.units, units)
    if goods_minor > most:
        raise AbovePrice(most)


def _balance_verdict(request: RefundRequest, left_minor: int) -> Verdict:
    amount = format_minor(request.amount_minor, request.currency)
    left = format_minor(left_minor, request.currency)
    return Verdict(
        rule="balance",
        inputs={"amount_minor": request.amount_minor, "largest_left_minor": left_minor},
        outcome="ask",
        sentence=f"No single payment of this order holds {amount}; at most {left} is left on one.",
    )


def _request(request_id: int) -> RefundRequest:
    return RefundRequest.objects.select_related("line", "policy").get(pk=request_id)


def _lock_budget_day(request: RefundRequest) -> BudgetDay:
    day, currency = shop_day(timezone.now()), request.policy.currency
    BudgetDay.objects.bulk_create([BudgetDay(day=day, currency=currency)], ignore_conflicts=True)
    return BudgetDay.objects.select_for_update(no_key=True).get(day=day, currency=currency)


def _lock_customer(request: RefundRequest) -> None:
    """One refund of a customer after another, so that each sees the others in the history."""
    User.objects.select_for_update(no_key=True).only("pk").get(pk=request.customer_id)


def _reserved_step(lease: Lease, refund: Refund) -> Entry:
    amount = format_minor(refund.amount_minor, refund.currency)
    return Entry(
        kind=Step.Kind.ACTION,
        actor=Step.Actor.AGENT,
        title=f"Refund of {amount} to {refund.card_brand} ending {refund.card_last4} started",
        detail=f"Reference {refund.reference}.",
        run_uuid=lease.run_id,
    )
