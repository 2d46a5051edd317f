"""`get_refund_history`: what this customer got back and asked for before."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from django.utils import timezone

from agent.prompts.fence import one_line
from agent.tools.context import Outcome, ReviewContext
from agent.tools.get_order import shop_day
from agent.tools.tool import NoArguments, Tool
from intake.models import RefundRequest
from payments.balance import live_refunds_since
from payments.models import Refund
from payments.money import format_minor

YEAR_DAYS = 365
MAX_ROWS = 20


def run(context: ReviewContext, arguments: NoArguments) -> Outcome:
    request = context.request
    refunds = _refunds_of(request)
    ages = [_days_ago(refund) for refund in refunds]
    recent = sum(1 for days in ages if days <= request.policy.history_days)
    result = {
        "history_days": request.policy.history_days,
        "refunds_in_history_days": recent,
        "refunds_in_12_months": len(refunds),
        "refunds": [_refund(refund) for refund in refunds[:MAX_ROWS]],
        "earlier_requests": [_earlier(earlier) for earlier in _requests_before(request)],
    }
    return Outcome(result, "Checked refund history", _detail(recent, len(refunds), request.policy.history_days))


def _refunds_of(request: RefundRequest) -> list[Refund]:
    since = timezone.now() - timedelta(days=YEAR_DAYS + 1)
    refunds = live_refunds_since(request.customer_id, since, besides_request=request.uuid)
    return [refund for refund in refunds if _days_ago(refund) <= YEAR_DAYS]


def _requests_before(request: RefundRequest) -> list[RefundRequest]:
    earlier = RefundRequest.objects.filter(customer_id=request.customer_id, pk__lt=request.pk).select_related("line")
    return list(earlier.order_by("-pk")[:MAX_ROWS])


def _days_ago(refund: Refund) -> int:
    today: date = timezone.localdate()
    return (today - timezone.localtime(refund.reserved_at).date()).days


def _refund(refund: Refund) -> dict[str, Any]:
    return {
        "on": shop_day(refund.reserved_at),
        "days_ago": _days_ago(refund),
        "amount": format_minor(refund.amount_minor, refund.currency),
        "item": one_line(refund.line.name) if refund.line else None,
        "status": refund.status,
    }


def _earlier(request: RefundRequest) -> dict[str, Any]:
    return {
        "number": request.number,
        "asked_on": shop_day(request.created_at),
        "item": one_line(request.line.name),
        "reason": request.reason,
        "status": request.status,
    }


def _detail(recent: int, in_year: int, days: int) -> str:
    if not in_year:
        return "No refunds in 12 months"
    return f"{_refunds(recent)} in {days} days, {in_year} in 12 months"


def _refunds(count: int) -> str:
    return {0: "No refunds", 1: "1 refund"}.get(count, f"{count} refunds")


GET_REFUND_HISTORY = Tool(
    name="get_refund_history",
    description="This customer's other refunds within the policy's history span and 12 months, and earlier requests.",
    arguments=NoArguments,
    run=run,
    failed_title="Could not check the refund history",
)
