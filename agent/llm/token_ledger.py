"""The token ledger: what each provider did for each customer on each day of the shop. Rows: `TokenDay`.

The tokens of a call whose provider tells none are guessed, so that limits and the pages about them hold for it too; how
many calls that were is counted apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from django.conf import settings
from django.db.models import F, Sum
from django.utils import timezone

from agent.llm.base import LimitReached, Usage
from agent.llm.evaluation_use import used_by_evaluations
from agent.models import TokenDay
from intake.shop_clock import shop_time

CUSTOMER_LIMIT = "The requests of this customer have used the model's {limit:,} tokens of today."


def today() -> date:
    return shop_time(timezone.now()).date()


def count_call(provider: str, customer_id: int, usage: Usage) -> None:
    """Adds one call. Each statement is atomic by itself, so many workers may count at once."""
    silent = usage.tokens_in is None or usage.tokens_out is None
    numbers = {
        "calls": 1,
        "tokens_in": (usage.tokens_in or 0) + usage.guessed_tokens,
        "tokens_out": usage.tokens_out or 0,
        "calls_without_tokens": int(silent),
        "cost_micro": usage.cost_micro or 0,
        "calls_without_cost": int(usage.cost_micro is None),
    }
    count_calls(provider, customer_id, numbers)


def count_calls(provider: str, customer_id: int, numbers: Mapping[str, int]) -> None:
    """Adds many calls at once; `numbers` by the names of a TokenDay."""
    row = {"day": today(), "provider": provider[:40], "customer_id": customer_id}
    if _add(row, numbers) == 0:
        TokenDay.objects.bulk_create([TokenDay(**row)], ignore_conflicts=True)
        _add(row, numbers)


def tokens_used(provider: str) -> int:
    """Tokens of the provider today, in and out, over all customers and evaluations."""
    by_evaluations = used_by_evaluations(today()).get(provider[:40])
    return _sum(provider=provider[:40]) + (by_evaluations.tokens if by_evaluations else 0)


def check_customer(customer_id: int) -> None:
    """Raises LimitReached when the requests of this customer have used their tokens of today."""
    limit = settings.LLM_CUSTOMER_TOKENS_PER_DAY
    if limit is not None and _sum(customer_id=customer_id) >= limit:
        raise LimitReached(CUSTOMER_LIMIT.format(limit=limit))


def _add(row: dict[str, object], numbers: Mapping[str, int]) -> int:
    return TokenDay.objects.filter(**row).update(**{name: F(name) + number for name, number in numbers.items()})


def _sum(**whose: object) -> int:
    found = TokenDay.objects.filter(day=today(), **whose).aggregate(used=Sum(F("tokens_in") + F("tokens_out")))
    return int(found["used"] or 0)
