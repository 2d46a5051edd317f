"""The steps of a review that is over: the look-ups, the look at the picture, the rules and the recommendation."""

from __future__ import annotations

from datetime import date
from typing import Any

from django.conf import settings
from django.utils import timezone

from agent.llm.scripted import ScriptedModel
from agent.models import Approval
from agent.tools.inspect_photo import SUPPORT
from intake.models import PolicySection, RefundRequest, Step
from intake.policy_texts import render_section
from intake.rules import Verdict, calendar_days, for_staff
from intake.timeline import Entry
from payments.models import Charge
from payments.money import format_minor
from refunddesk.demo_shop.case import Advice, Case, Finding, Look

PROVIDER = ScriptedModel.provider
MODEL = ScriptedModel.model


def look_ups(case: Case, request: RefundRequest, charge: Charge, refund_days: tuple[date, ...]) -> list[Entry]:
    """What the agent read before it came to a view."""
    entries = [_order(request, charge), _history(request, refund_days), _policy(case, request)]
    return [*entries, _photo(case.look)] if case.look else entries


def rules_asked(request: RefundRequest, verdicts: tuple[Verdict, ...], reason: str) -> Entry:
    """The attempt to refund automatically, allowed or blocked."""
    failed = for_staff(verdicts)
    amount = format_minor(request.amount_minor, request.currency)
    result: dict[str, Any] = {"status": "reserved", "amount": amount}
    if failed:
        rules = [{"rule": rule.rule, "sentence": rule.sentence} for rule in failed]
        result = {"status": "blocked", "rules_that_ask_for_a_person": rules}
    return _tool(
        "issue_refund",
        "Automatic refund blocked" if failed else f"Automatic refund of {amount} allowed",
        " ".join(rule.sentence for rule in failed),
        arguments={"reason": reason},
        result=result,
        milliseconds=6,
    )


def recommended(advice: Advice) -> Entry:
    return _tool(
        "request_approval",
        f"Recommended: {Approval.Recommendation(advice.recommendation).label.lower()}",
        advice.reasoning,
        arguments={
            "recommendation": advice.recommendation,
            "findings": [_claim(finding) for finding in advice.findings],
            "concerns": [_claim(concern) for concern in advice.concerns],
            "reasoning": advice.reasoning,
            "counter_case": _claim(advice.against),
            "would_change": advice.would_change,
            "draft_question": advice.draft_question,
        },
        result={"status": "handed over"},
        milliseconds=3,
    )


def _claim(finding: Finding) -> dict[str, Any]:
    return {"text": finding.text, "source": finding.tool or None}


def _order(request: RefundRequest, charge: Charge) -> Entry:
    line, order = request.line, request.line.order
    days = _days_from_delivery(request)
    lines = list(order.lines.order_by("id"))
    items = "1 item" if len(lines) == 1 else f"{len(lines)} items"
    delivered = "delivered yesterday" if days == 1 else f"delivered {days} days ago"
    result = {
        "order": order.number,
        "placed_on": timezone.localdate(order.placed_at).isoformat(),
        "currency": order.currency,
        "lines": [
            {"sku": each.sku, "item": each.name, "units": each.quantity, "paid": format_minor(each.paid_minor, "USD")}
            for each in lines
        ],
        "card": {"brand": charge.card_brand, "last_four": charge.card_last4},
        "this_request": {
            "sku": line.sku,
            "item": line.name,
            "units": request.units,
            "would_pay": format_minor(request.amount_minor, request.currency),
            "days_from_delivery_to_request": days,
            "refund_window_days": request.policy.refund_window_days,
            "inside_window": days <= request.policy.refund_window_days,
        },
    }
    detail = f"{items}, {delivered}, {charge.card_brand} {charge.card_last4}"
    return _tool("get_order", f"Looked up order {order.number}", detail, result=result, milliseconds=4)


def _history(request: RefundRequest, refund_days: tuple[date, ...]) -> Entry:
    today, span = timezone.localdate(request.created_at), request.policy.history_days
    ages = sorted((today - day).days for day in refund_days)
    recent = sum(1 for age in ages if age <= span)
    detail = "No refunds in 12 months"
    if ages:
        detail = f"{recent} refund{'' if recent == 1 else 's'} in {span} days, {len(ages)} in 12 months"
    result = {
        "history_days": span,
        "refunds_in_history_days": recent,
        "refunds_in_12_months": len(ages),
        "refunds": [{"days_ago": age} for age in ages],
    }
    return _tool("get_refund_history", "Checked refund history", detail, result=result, milliseconds=3)


def _policy(case: Case, request: RefundRequest) -> Entry:
    section = request.policy.sections.get(topic=case.topic)
    section.policy = request.policy
    name = PolicySection.Topic(case.topic).label.lower()
    result = {
        "policy_version": request.policy.number,
        "topic": case.topic,
        "title": section.title,
        "text": render_section(section),
    }
    detail = f"Policy {request.policy.number}, {section.title}"
    arguments = {"topic": case.topic}
    return _tool("read_policy", f"Read policy: {name}", detail, arguments=arguments, result=result, milliseconds=2)


def _photo(look: Look) -> Entry:
    result = {
        "pictures": 1,
        "description": look.description,
        "verdict": look.verdict,
        "explanation": look.explanation,
        "text_addresses_reviewer": False,
    }
    return _tool(
        "inspect_photo",
        "Inspected the photo",
        f"{look.description} {SUPPORT[look.verdict]}",
        arguments={"source": "request"},
        result=result,
        milliseconds=1740,
    )


def _days_from_delivery(request: RefundRequest) -> int:
    delivered_at = request.line.delivered_at
    if delivered_at is None:
        raise ValueError(f"{request.line.order} was never delivered, so nobody can have asked for a refund of it.")
    return calendar_days(delivered_at, request.created_at, settings.SHOP_TIME_ZONE)


def _tool(
    name: str, title: str, detail: str, *, result: dict[str, Any], milliseconds: int, arguments: Any = None
) -> Entry:
    return Entry(
        kind=Step.Kind.TOOL,
        actor=Step.Actor.AGENT,
        title=title,
        detail=detail,
        tool=name,
        arguments=arguments or {},
        result=result,
        provider=PROVIDER,
        model=MODEL,
        duration_ms=milliseconds,
    )
