"""One model provider of the chain, as the settings describe it. Pure: the settings read themselves into it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal

from agent.llm.base import Usage

KNOWN_ADDRESSES = {
    "openrouter": "https://openrouter.ai/api/v1",
    "groq": "https://api.groq.com/openai/v1",
    "cerebras": "https://api.cerebras.ai/v1",
    "ollama": "http://127.0.0.1:11434/v1",
    "vllm": "http://127.0.0.1:8000/v1",
}


@dataclass(frozen=True)
class Provider:
    """`vision_model` empty: a model without eyes. Prices in US dollars per million tokens, None: unknown.

    `timeout_seconds` None: CALL_MAX_SECONDS. `tokens_per_day` None: no limit.
    """

    name: str
    base_url: str
    api_key: str = field(repr=False)
    model: str
    vision_model: str = ""
    timeout_seconds: float | None = None
    price_in: Decimal | None = None
    price_out: Decimal | None = None
    tokens_per_day: int | None = None

    @property
    def key_digest(self) -> str:
        """Tells one key at one address from another without keeping it: 16 characters."""
        return hashlib.sha256(f"{self.base_url} {self.api_key}".encode()).hexdigest()[:16]

    def cost_micro(self, usage: Usage) -> int | None:
        """Millionths of a dollar, rounded up; None when tokens or a price are unknown."""
        parts = (_cost(usage.tokens_in, self.price_in), _cost(usage.tokens_out, self.price_out))
        if parts[0] is None or parts[1] is None:
            return None
        return int((parts[0] + parts[1]).to_integral_value(ROUND_CEILING))


def _cost(tokens: int | None, price: Decimal | None) -> Decimal | None:
    """A price per million tokens in dollars is one per token in millionths of a dollar; no tokens cost nothing."""
    if tokens == 0:
        return Decimal(0)
    return None if tokens is None or price is None else tokens * price
