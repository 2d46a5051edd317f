"""The page "Models": who is asked in which order, how each stands, and what the days and the customers have used."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import F, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from agent.llm.customers_today import is_near, tokens_left
from agent.llm.providers_today import SUMS, ChainToday, chain_today, used_of
from agent.llm.token_ledger import today
from agent.llm.used import Used
from agent.models import TokenDay
from desk.frame import frame_of

DAYS = 14
MOST_CUSTOMERS = 20
# A chain has a handful of providers; those of the past add a few.
MOST_ROWS = 1000


@dataclass(frozen=True)
class DayOfUse:
    day: date
    used: Used


@dataclass(frozen=True)
class ProviderDays:
    """The days of the last two weeks on which a provider was asked, newest first. `asked_now`: it is in the chain."""

    name: str
    days: list[DayOfUse]
    asked_now: bool


@dataclass(frozen=True)
class CustomerToday:
    """`left`: tokens of today that are not used, None without a limit; `near`: not many are."""

    customer: User
    used: Used
    left: int | None
    near: bool


@dataclass(frozen=True)
class ModelsPage:
    chain: ChainToday
    history: list[ProviderDays]
    customers: list[CustomerToday]
    customer_limit: int | None
    run_tokens: int | None
    run_cost: object


def models_page(request: HttpRequest) -> HttpResponse:
    return render(request, "desk/models.html", {"models": load_models(), "frame": frame_of(request)})


def load_models() -> ModelsPage:
    """Six queries at most."""
    chain = chain_today()
    return ModelsPage(
        chain=chain,
        history=_history(chain),
        customers=_customers(),
        customer_limit=settings.LLM_CUSTOMER_TOKENS_PER_DAY,
        run_tokens=settings.LLM_RUN_TOKENS,
        run_cost=settings.LLM_RUN_COST,
    )


def _history(chain: ChainToday) -> list[ProviderDays]:
    """In the order of the chain, then those that are not asked any more."""
    rows = (
        TokenDay.objects.filter(day__gt=today() - timedelta(days=DAYS))
        .values("provider", "day")
        .annotate(**SUMS)
        .order_by("provider", "-day")[:MOST_ROWS]
    )
    by_name: dict[str, list[DayOfUse]] = {}
    for row in rows:
        by_name.setdefault(row["provider"], []).append(DayOfUse(row["day"], used_of(row)))
    asked = [one.provider.name for one in chain.providers] + (["scripted"] if chain.scripted else [])
    names = [name for name in asked if name in by_name] + sorted(set(by_name) - set(asked))
    return [ProviderDays(name, by_name[name], name in asked) for name in names]


def _customers() -> list[CustomerToday]:
    rows = list(
        TokenDay.objects.filter(day=today())
        .values("customer_id")
        .annotate(**SUMS, all_tokens=Sum(F("tokens_in") + F("tokens_out")))
        .filter(all_tokens__gt=0)
        .order_by("-all_tokens", "customer_id")[:MOST_CUSTOMERS]
    )
    people = User.objects.in_bulk([row["customer_id"] for row in rows])
    return [
        CustomerToday(
            people[row["customer_id"]], used_of(row), tokens_left(row["all_tokens"]), is_near(row["all_tokens"])
        )
        for row in rows
    ]
