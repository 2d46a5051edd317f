"""Forgets the days of the token ledger that nobody asks about any more."""

from __future__ import annotations

from datetime import timedelta

from agent.llm.token_ledger import today
from agent.models import TokenDay

# The costs of a year are asked for some weeks after it has ended.
KEPT = timedelta(days=400)
MOST_AT_ONCE = 1000


def purge_token_days() -> int:
    """Deletes at most MOST_AT_ONCE rows of days of the shop more than 400 days ago, oldest first; returns how many."""
    old = TokenDay.objects.filter(day__lt=today() - KEPT).order_by("day", "id")
    deleted, _ = TokenDay.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:MOST_AT_ONCE])).delete()
    return deleted
