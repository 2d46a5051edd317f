"""How much was asked of the providers, in sums."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Used:
    """Sums of the ledger. `cost_micro` holds the known costs; `calls_without_cost` and `calls_without_tokens` say of
    how many calls they are silent."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    calls_without_tokens: int = 0
    cost_micro: int = 0
    calls_without_cost: int = 0

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out

    def __add__(self, other: Used) -> Used:
        return Used(**{name: value + getattr(other, name) for name, value in asdict(self).items()})
