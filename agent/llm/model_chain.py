"""The models one review asks, in order, and what this review has learned about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from agent.llm.base import ChatModel, Usage
from agent.llm.provider import Provider


@dataclass(frozen=True)
class Link:
    """One model of the chain. `provider`: as the settings have it, None for a model inside this process.

    `stands_in`: the scripted model. `waits`: who asks it waits, so that nothing is held meanwhile.
    """

    model: ChatModel
    provider: Provider | None = None
    sees: bool = True
    stands_in: bool = False
    waits: bool = True

    @property
    def name(self) -> str:
        return self.model.provider

    def with_cost(self, usage: Usage, about_tokens: Callable[[], int]) -> Usage:
        """`about_tokens` of the call stand for those its provider did not tell, where limits are looked at."""
        if self.provider is None:
            return usage
        cost = self.provider.cost_micro(usage)
        if usage.tokens_in is not None and usage.tokens_out is not None:
            return replace(usage, cost_micro=cost)
        guessed = about_tokens() if usage.tokens_in is None else 0
        likely = Usage(guessed if usage.tokens_in is None else usage.tokens_in, usage.tokens_out or 0)
        return replace(
            usage,
            cost_micro=cost,
            guessed_tokens=guessed,
            guessed_micro=(self.provider.cost_micro(likely) or 0) if cost is None else 0,
        )


@dataclass
class ModelChain:
    """`failed`: by name, why a provider is not asked again in this review. `refusals`: how many models refused
    to work on what the request says or shows."""

    links: tuple[Link, ...]
    failed: dict[str, str] = field(default_factory=dict)
    refusals: int = 0
