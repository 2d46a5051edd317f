"""What the shop still allows the providers today: an evaluation spends the same account as the shop's own runs."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from django.utils import timezone
from pydantic import BaseModel, ConfigDict, Field

from agent.evaluation.options import Options
from agent.evaluation.provider_use import ProviderUse
from agent.evaluation.wished_chain import answers_here, asked_by
from agent.llm.provider_state import KEY_REST
from agent.llm.providers_now import providers_now
from agent.llm.providers_today import ProviderToday, chain_today

USED_UP = "{name} has used its {limit:,} tokens of today."


class Allowance(BaseModel):
    """By a provider's name: the tokens it has left today (none: no limit), and why it is not to be asked now."""

    model_config = ConfigDict(frozen=True)

    tokens_left: dict[str, int] = Field(default_factory=dict)
    not_now: dict[str, str] = Field(default_factory=dict)

    def settings(self) -> dict[str, Any]:
        """The chain as it stands in the settings, less what may not be asked; nothing when everything may."""
        if not self.tokens_left and not self.not_now:
            return {}
        chain = [
            replace(provider, tokens_per_day=self.tokens_left.get(provider.name))
            for provider in providers_now()
            if provider.name not in self.not_now
        ]
        return {"LLM_CHAIN": tuple(chain), "LLM_API_KEY": ""}

    def why_not(self, options: Options) -> str:
        """Empty while at least one of the providers that `options` ask may be asked."""
        names = [provider.name for provider in asked_by(options)]
        if not names or any(name not in self.not_now for name in names):
            return ""
        return " ".join(self.not_now[name] for name in names)


class Gate:
    """Says before each trial whether it may still be played, and with how many tokens.

    Whoever asked for the playing looks at the rows from time to time; lanes, which are threads, spend and ask.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._lock = threading.Lock()
        self._limits: dict[str, int] = {}
        self._left: dict[str, int] = {}
        self._not_now: dict[str, str] = {}
        self._spent: dict[str, int] = {}
        self._kept: dict[str, int] = {}

    def look(self) -> None:
        """Reads what the shop's rows say now; nothing where only the scripted model works."""
        if answers_here(self._options):
            return
        providers = chain_today().providers
        with self._lock:
            self._limits = {one.provider.name: one.provider.tokens_per_day or 0 for one in providers}
            # What this playing has kept in rows itself is among what they say is used, and among `_spent`.
            self._left = {
                one.provider.name: one.provider.tokens_per_day - one.used.tokens + self._kept.get(one.provider.name, 0)
                for one in providers
                if one.provider.tokens_per_day is not None
            }
            self._not_now = {one.provider.name: why for one in providers if (why := _why_not(one))}

    def spend(self, used: Iterable[ProviderUse]) -> None:
        """What a trial of this playing has used."""
        with self._lock:
            _add(self._spent, used)

    def keep(self, used: Iterable[ProviderUse]) -> None:
        """The same, once a row of the shop tells it."""
        with self._lock:
            _add(self._kept, used)

    def allowance(self) -> Allowance:
        with self._lock:
            left = {name: max(0, tokens - self._spent.get(name, 0)) for name, tokens in self._left.items()}
            empty = {name: USED_UP.format(name=name, limit=self._limits[name]) for name in left if not left[name]}
            return Allowance(tokens_left=left, not_now=empty | self._not_now)

    def why_not(self) -> str:
        """Empty: the next trial may be played."""
        return self.allowance().why_not(self._options)


def _add(sums: dict[str, int], used: Iterable[ProviderUse]) -> None:
    for use in used:
        sums[use.provider] = sums.get(use.provider, 0) + use.numbers.tokens


def _why_not(one: ProviderToday) -> str:
    name = one.provider.name
    if one.state == "key refused" and one.since is not None and timezone.now() < one.since + KEY_REST:
        return f"The key of {name} was refused."
    return f"{name} is left alone for a while after failures." if one.state == "left alone" else ""
