"""How the providers stand today: for the desk's page and the doctor, in three queries however many there are."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any, Literal

from django.db.models import F, Sum
from django.utils import timezone

from agent.llm.evaluation_use import used_by_evaluations
from agent.llm.provider import Provider
from agent.llm.provider_state import has_refused_key, states_of
from agent.llm.providers_now import providers_now, scripted_stands_last
from agent.llm.scripted import PROVIDER as SCRIPTED
from agent.llm.token_ledger import today
from agent.llm.used import Used
from agent.models import ProviderState, TokenDay

State = Literal["ready", "failing", "key refused", "left alone", "used up"]


@dataclass(frozen=True)
class ProviderToday:
    """One provider in the order it is asked. `until`: when it is asked again; `since`: when its key was refused.

    `used` holds what evaluations used too (`by_evaluations`): they spend the same account."""

    provider: Provider
    state: State
    used: Used
    failures: int = 0
    last_trouble: str = ""
    until: datetime | None = None
    since: datetime | None = None
    by_evaluations: Used = field(default_factory=Used)

    @property
    def tokens_left(self) -> int | None:
        """None: it has no limit."""
        limit = self.provider.tokens_per_day
        return None if limit is None else max(0, limit - self.used.tokens)


@dataclass(frozen=True)
class ChainToday:
    """`scripted`: what the scripted model did, None when it may not stand last."""

    providers: list[ProviderToday]
    scripted: Used | None


def chain_today() -> ChainToday:
    providers = providers_now()
    states, used = states_of(providers), use_by_provider(today())
    measured = used_by_evaluations(today())
    return ChainToday(
        [
            _stands(
                provider,
                states.get(provider.name),
                used.get(provider.name, Used()),
                measured.get(provider.name, Used()),
            )
            for provider in providers
        ],
        used.get(SCRIPTED, Used()) if scripted_stands_last() else None,
    )


def refused_keys() -> list[str]:
    """Names of the providers whose key that is set now was refused; one query, none without providers."""
    providers = providers_now()
    states = states_of(providers)
    known = [(provider, states[provider.name]) for provider in providers if provider.name in states]
    return [provider.name for provider, state in known if has_refused_key(provider, state)]


def use_by_provider(day: date) -> dict[str, Used]:
    rows = TokenDay.objects.filter(day=day).values("provider").annotate(**SUMS)
    return {row["provider"]: used_of(row) for row in rows}


def used_of(row: Any) -> Used:
    """Out of a row (a dict) that was annotated with SUMS."""
    return Used(**{name.removeprefix("sum_"): row[name] or 0 for name in SUMS})


SUMS = {
    f"sum_{name}": Sum(F(name))
    for name in ("calls", "tokens_in", "tokens_out", "calls_without_tokens", "cost_micro", "calls_without_cost")
}


def _stands(provider: Provider, state: ProviderState | None, by_runs: Used, by_evaluations: Used) -> ProviderToday:
    now = timezone.now()
    used, limit = by_runs + by_evaluations, provider.tokens_per_day
    stands = partial(
        ProviderToday,
        provider,
        used=used,
        by_evaluations=by_evaluations,
        failures=state.failures if state else 0,
        last_trouble=state.last_trouble if state else "",
    )
    if state and has_refused_key(provider, state):
        return stands(state="key refused", since=state.key_refused_at)
    if state and state.left_alone_until and state.left_alone_until > now:
        return stands(state="left alone", until=state.left_alone_until)
    if limit is not None and used.tokens >= limit:
        return stands(state="used up", until=_next_day())
    return stands(state="failing" if state and state.failures else "ready")


def _next_day() -> datetime:
    local = timezone.localtime()
    return (local + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
