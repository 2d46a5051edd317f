"""What the models of one run have used, and whether it may use more."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

from agent.llm.base import NO_USAGE, LimitReached, Usage

MICRO = 1_000_000


@dataclass
class Spending:
    """`usage` is unknown as soon as one call's is; `known_tokens` and `known_cost_micro` leave out what no provider
    told, so that the limits hold for the rest."""

    usage: Usage = NO_USAGE
    known_tokens: int = 0
    known_cost_micro: int = 0

    def add(self, usage: Usage) -> None:
        """Counts one call, also one that failed."""
        self.usage = self.usage + usage
        self.known_tokens += (usage.tokens_in or 0) + (usage.tokens_out or 0)
        self.known_cost_micro += usage.cost_micro or 0

    def check(self) -> None:
        """Raises LimitReached when the run has used what one run may."""
        tokens, dollars = settings.LLM_RUN_TOKENS, settings.LLM_RUN_COST
        if tokens is not None and self.known_tokens >= tokens:
            raise LimitReached(f"The review used the {tokens:,} tokens that one run may use.")
        if dollars is not None and self.known_cost_micro >= dollars * MICRO:
            raise LimitReached(f"The review cost the ${dollars} that one run may cost.")
