"""What measurings of the agent used of the providers: they have no customer, so no row of the ledger tells it.

Each keeps it among its scores: `{"used": {day: {provider: numbers of a TokenDay}}}`, days as of the shop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import date, timedelta
from typing import Any

from django.utils import timezone

from agent.llm.used import Used
from agent.models import Evaluation

# None takes longer than a day, so whatever counts today began after this.
REACHES_BACK = timedelta(days=2)
MOST_READ = 500


def used_by_evaluations(day: date) -> dict[str, Used]:
    """By provider; one query."""
    recent = Evaluation.objects.filter(kind=Evaluation.Kind.SUITE, created_at__gt=timezone.now() - REACHES_BACK)
    sums: dict[str, Used] = {}
    for kept in recent.values_list("scores__used", flat=True)[:MOST_READ]:
        for provider, numbers in _part(_part(kept), day.isoformat()).items():
            sums[str(provider)] = sums.get(str(provider), Used()) + _used(numbers)
    return sums


def _used(numbers: Any) -> Used:
    known = numbers if isinstance(numbers, Mapping) else {}
    return Used(**{one.name: int(known.get(one.name) or 0) for one in fields(Used)})


def _part(kept: Any, name: str | None = None) -> Mapping[str, Any]:
    part = kept.get(name) if name and isinstance(kept, Mapping) else kept
    return part if isinstance(part, Mapping) else {}
