"""What the models of one run have used, and whether it may use more."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.db.models import Sum

from agent.lease import Lease
from agent.llm.base import NO_USAGE, UNKNOWN_USAGE, LimitReached, Usage
from agent.models import Run
from intake.models import Step

MICRO = 1_000_000


@dataclass
class Spending:
    """`usage` is unknown as soon as one call's is; `counted_tokens` and `counted_micro` hold what is known and a guess
    for the rest, so that the limits hold for a provider too that tells nothing."""

    usage: Usage = NO_USAGE
    counted_tokens: int = 0
    counted_micro: int = 0

    def add(self, usage: Usage) -> None:
        """Counts one call, also one that failed."""
        self.usage = self.usage + usage
        self.counted_tokens += (usage.tokens_in or 0) + (usage.tokens_out or 0) + usage.guessed_tokens
        self.counted_micro += (usage.cost_micro or 0) + usage.guessed_micro

    def check(self) -> None:
        """Raises LimitReached when the run has used what one run may."""
        tokens, dollars = settings.LLM_RUN_TOKENS, settings.LLM_RUN_COST
        if tokens is not None and self.counted_tokens >= tokens:
            raise LimitReached(f"The review used the {tokens:,} tokens that one run may use.")
        if dollars is not None and self.counted_micro >= dollars * MICRO:
            raise LimitReached(f"The review cost the ${dollars} that one run may cost.")


def spent_before(lease: Lease) -> Spending:
    """What earlier tries of this run noted on it: its limits are those of all tries together.

    Where the run's sum is unknown, its steps tell what is known of it. A first try asks the database nothing.
    """
    names = ("tokens_in", "tokens_out", "cost_micro")
    noted = Run.objects.filter(pk=lease.run_id).values(*names).first() if lease.tries > 1 else None
    if noted is None:
        return Spending()
    usage = Usage(**noted)
    steps = Step.objects.filter(run_uuid=lease.run_id, kind__in=[Step.Kind.TOOL, Step.Kind.ERROR])
    if usage == UNKNOWN_USAGE and not steps.exists():  # it stopped before it noted anything
        return Spending()
    told = steps.aggregate(**{name: Sum(name) for name in names}) if None in noted.values() else {}
    known = {name: value if value is not None else told[name] or 0 for name, value in noted.items()}
    return Spending(usage, known["tokens_in"] + known["tokens_out"], known["cost_micro"])
