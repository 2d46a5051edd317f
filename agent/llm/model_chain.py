"""The models one review asks, in order, and what this review has learned about them."""

from __future__ import annotations

from dataclasses import dataclass, field

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

    def with_cost(self, usage: Usage) -> Usage:
        if self.provider is None:
            return usage
        return Usage(usage.tokens_in, usage.tokens_out, self.provider.cost_micro(usage))


@dataclass
class ModelChain:
    """`failed`: by name, why a provider is not asked again in this review. `refusals`: how many models refused
    to work on what the request says or shows."""

    links: tuple[Link, ...]
    failed: dict[str, str] = field(default_factory=dict)
    refusals: int = 0
