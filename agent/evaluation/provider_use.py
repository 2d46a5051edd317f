"""What a playing used of the providers: read out of the scratch shop's ledger, counted into the shop's own."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from agent.evaluation.troubled_provider import NAME as TROUBLED
from agent.llm.scripted import PROVIDER as SCRIPTED
from agent.llm.token_ledger import count_calls
from agent.llm.used import Used

logger = logging.getLogger(__name__)

# Neither costs anything: both are played on this machine.
FREE = (SCRIPTED, TROUBLED)
SUMS = (
    "SELECT provider, SUM(calls), SUM(tokens_in), SUM(tokens_out), SUM(calls_without_tokens), SUM(cost_micro), "
    "SUM(calls_without_cost) FROM agent_tokenday WHERE provider NOT IN (?, ?) GROUP BY provider ORDER BY provider"
)
BUSY_SECONDS = 5.0


class ProviderUse(BaseModel):
    """What one provider did in one playing; the numbers are those of a TokenDay."""

    model_config = ConfigDict(frozen=True)

    provider: str
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    calls_without_tokens: int = 0
    cost_micro: int = 0
    calls_without_cost: int = 0

    @property
    def numbers(self) -> Used:
        return Used(**self.model_dump(exclude={"provider"}))


def used_in(scratch_database: Path) -> tuple[ProviderUse, ...]:
    """Of the trial that was played in it last, also when its process was ended in the middle of it."""
    try:
        with closing(sqlite3.connect(scratch_database, timeout=BUSY_SECONDS)) as book:
            rows = book.execute(SUMS, FREE).fetchall()
    except sqlite3.Error as error:
        logger.warning("what a playing used of the providers cannot be read: %s", error)
        return ()
    return tuple(ProviderUse(**dict(zip(ProviderUse.model_fields, row, strict=True))) for row in rows)


def count_for(customer_id: int, used: Iterable[ProviderUse]) -> None:
    """Into the shop's ledger, for the customer whose case was played."""
    for use in used:
        count_calls(use.provider, customer_id, use.model_dump(exclude={"provider"}))
