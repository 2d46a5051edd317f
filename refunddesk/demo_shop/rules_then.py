"""What the shop's rules looked at when a resolved request was asked for, with the numbers that held then."""

from __future__ import annotations

from datetime import date

from django.conf import settings

from intake.models import RefundRequest
from intake.rules import Facts
from refunddesk.demo_shop.case import Case
from refunddesk.demo_shop.orders import CURRENCY

LIMIT_MINOR = 5000
WINDOW_DAYS = 30
HISTORY_DAYS = 90
BUDGET_MINOR = 50_000


def facts_then(case: Case, request: RefundRequest, today: date, refund_days: tuple[date, ...]) -> Facts:
    """`refund_days`: the shop's day of each refund the customer had got by then."""
    return Facts(
        reason=case.reason,
        amount_minor=request.amount_minor,
        currency=CURRENCY,
        policy_currency=CURRENCY,
        limit_minor=LIMIT_MINOR,
        window_days=WINDOW_DAYS,
        delivered_at=request.line.delivered_at,
        asked_at=request.created_at,
        today=today,
        time_zone=settings.SHOP_TIME_ZONE,
        photo_verdict=case.look.verdict if case.look else None,
        photo_addresses_reviewer=False,
        photo_used_in=(),
        refund_days=refund_days,
        history_days=HISTORY_DAYS,
        first_review=True,
        paused=False,
        spent_today_minor=0,
        budget_minor=BUDGET_MINOR,
    )
