"""How the customers stand to their tokens of today, when there is a limit for each."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.db.models import Count, F, Q, Sum

from agent.llm.token_ledger import today
from agent.models import TokenDay

# From this share of the limit on a customer is near it.
NEAR = 0.8


@dataclass(frozen=True)
class CustomersToday:
    """How many have used up their `limit` or are `near` it, and who has used most (None: nobody has used any)."""

    limit: int
    over: int
    near: int
    largest_id: int | None = None
    largest_tokens: int = 0


def customers_today() -> CustomersToday | None:
    """None without a limit. Two queries however many customers there are."""
    limit = settings.LLM_CUSTOMER_TOKENS_PER_DAY
    if limit is None:
        return None
    each = (
        TokenDay.objects.filter(day=today())
        .values("customer_id")
        .annotate(tokens=Sum(F("tokens_in") + F("tokens_out")))
    )
    over = Q(tokens__gte=limit)
    counts = each.aggregate(
        over=Count("customer_id", filter=over), near=Count("customer_id", filter=~over & Q(tokens__gte=limit * NEAR))
    )
    largest = each.filter(tokens__gt=0).order_by("-tokens", "customer_id").first()
    if largest is None:
        return CustomersToday(limit, over=0, near=0)
    return CustomersToday(limit, counts["over"], counts["near"], largest["customer_id"], largest["tokens"])


def tokens_left(used: int) -> int | None:
    """Of one customer's tokens of today; None without a limit."""
    limit = settings.LLM_CUSTOMER_TOKENS_PER_DAY
    return None if limit is None else max(0, limit - used)


def is_near(used: int) -> bool:
    """Not used up, and not far from it."""
    limit = settings.LLM_CUSTOMER_TOKENS_PER_DAY
    return limit is not None and limit * NEAR <= used < limit
