"""The end of a run whose reason is gone: what it was for has been done or is no longer wanted."""

from __future__ import annotations

from agent.lease import Lease
from agent.runs import last_transaction


def end_with_nothing_left(lease: Lease) -> None:
    with last_transaction(lease, "nothing left to do"):
        pass
