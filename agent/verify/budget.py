"""What counts against each day's limit, computed again from the automatic refunds that were reserved that day."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.fields.json import KT

from agent.models import BudgetDay, ChainRecord
from payments.money import format_minor

DAY = timedelta(days=1)
PATHS = {
    "amount": "refund__amount_minor",
    "in_currency": "refund__currency",
    "today": "rules__facts__today",
    "zone": "rules__facts__time_zone",
}
# A refund may be counted for the day on which it began to wait for the locks, which is at most as long as a run.
LONGEST_WAIT = timedelta(minutes=5)


@dataclass
class Reserved:
    """Minor units, failed refunds included; `early`: of them, so soon after midnight that they may be yesterday's."""

    total: int = 0
    early: int = 0


Days = dict[tuple[date, str], Reserved]


def check_budgets() -> Iterator[str]:
    """Every day that has a sum or a refund. What is read amid a reservation is looked at again under the day's lock."""
    reserved = _reserved(ChainRecord.objects.all())
    counted = {(row.day, row.currency): row.spent_minor for row in BudgetDay.objects.all()}
    for day, currency in sorted(reserved.keys() | counted.keys()):
        if _misfit(day, currency, counted.get((day, currency), 0), reserved):
            misfit = _second_look(day, currency)
            if misfit:
                yield misfit


def _second_look(day: date, currency: str) -> str:
    with transaction.atomic():
        row = BudgetDay.objects.select_for_update(no_key=True).filter(day=day, currency=currency).first()
        around = (datetime.combine(day + n * DAY, time(), ZoneInfo("UTC")) for n in (-2, 4))
        links = ChainRecord.objects.filter(created_at__range=tuple(around))
        return _misfit(day, currency, 0 if row is None else row.spent_minor, _reserved(links))


def _misfit(day: date, currency: str, counted: int, reserved: Days) -> str:
    own, next_day = reserved[day, currency], reserved[day + DAY, currency]
    if own.total - own.early <= counted <= own.total + next_day.early:
        return ""
    spent, sum_of_day = (format_minor(each, currency) for each in (counted, own.total))
    return f"For {day} {spent} count as refunded automatically, and the refunds of that day come to {sum_of_day}."


def _reserved(links: QuerySet[ChainRecord]) -> Days:
    """By the day that the rules were told, so that a shop that has moved to another zone still fits."""
    days: Days = defaultdict(Reserved)
    facts = {name: KT(f"facts__{path}") for name, path in PATHS.items()}
    automatic = links.filter(kind=ChainRecord.Kind.RESERVE, facts__has_key="rules").annotate(**facts)
    for amount, currency, today, zone, at in automatic.values_list(*PATHS, "created_at").iterator():
        try:
            day, minor = date.fromisoformat(today), int(amount)
            since_midnight = at - datetime.combine(day, time(), ZoneInfo(zone))
        except (TypeError, ValueError, KeyError):  # such a link is named with its request
            continue
        reserved = days[day, currency]
        reserved.total += minor
        reserved.early += minor if since_midnight < LONGEST_WAIT else 0
    return days
