"""The token ledger: what each provider did for each customer on each day of the shop. Rows: `TokenDay`."""

from __future__ import annotations

from datetime import date

from django.conf import settings
from django.db.models import F, Sum
from django.utils import timezone

from agent.llm.base import LimitReached, Usage
from agent.models import TokenDay
from intake.shop_clock import shop_time

CUSTOMER_LIMIT = "The requests of this customer have used the model's {limit:,} tokens of today."


def today() -> date:
    return shop_time(timezone.now()).date()


def count_call(provider: str, customer_id: int, usage: Usage) -> None:
    """Adds one call. Each statement is atomic by itself, so many workers may count at once."""
    row = {"day": today(), "provider": provider[:40], "customer_id": customer_id}
    if _add(row, usage) == 0:
        TokenDay.objects.bulk_create([TokenDay(**row)], ignore_conflicts=True)
        _add(row, usage)


def tokens_used(provider: str) -> int:
    """Known tokens of the provider today, in and out, over all customers."""
    return _sum(provider=provider[:40])


def check_customer(customer_id: int) -> None:
    """Raises LimitReached when the requests of this customer have used their tokens of today."""
    limit = settings.LLM_CUSTOMER_TOKENS_PER_DAY
    if limit is not None and _sum(customer_id=customer_id) >= limit:
        raise LimitReached(CUSTOMER_LIMIT.format(limit=limit))


def _add(row: dict[str, object], usage: Usage) -> int:
    return TokenDay.objects.filter(**row).update(
        calls=F("calls") + 1,
        tokens_in=F("tokens_in") + (usage.tokens_in or 0),
        tokens_out=F("tokens_out") + (usage.tokens_out or 0),
        calls_without_tokens=F("calls_without_tokens") + int(usage.tokens_in is None or usage.tokens_out is None),
        cost_micro=F("cost_micro") + (usage.cost_micro or 0),
        calls_without_cost=F("calls_without_cost") + int(usage.cost_micro is None),
    )


def _sum(**whose: object) -> int:
    found = TokenDay.objects.filter(day=today(), **whose).aggregate(used=Sum(F("tokens_in") + F("tokens_out")))
    return int(found["used"] or 0)
