"""What the shop's rules looked at when a resolved request was asked for, with the numbers of its policy."""

from __future__ import annotations

from datetime import date

from django.conf import settings

from intake.models import RefundRequest
from intake.rules import Facts
from refunddesk.demo_shop.case import Case


def facts_then(case: Case, request: RefundRequest, today: date, refund_days: tuple[date, ...]) -> Facts:
    """`refund_days`: the shop's day of each refund the customer had got by then."""
    return Facts(
        reason=case.reason,
        amount_minor=request.amount_minor,
        currency=request.currency,
        policy_currency=request.policy.currency,
        limit_minor=request.policy.auto_refund_limit_minor,
        window_days=request.policy.refund_window_days,
        delivered_at=request.line.delivered_at,
        asked_at=request.created_at,
        today=today,
        time_zone=settings.SHOP_TIME_ZONE,
        photo_verdict=case.look.verdict if case.look else None,
        photo_addresses_reviewer=False,
        photo_used_in=(),
        refund_days=refund_days,
        history_days=request.policy.history_days,
        first_review=True,
        paused=False,
        spent_today_minor=0,
        budget_minor=request.policy.daily_budget_minor,
    )
