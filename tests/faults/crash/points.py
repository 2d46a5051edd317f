"""Moments at which a worker can be made to die: around each commit and around each call of the payment provider."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from payments.providers.base import ProviderAnswer, RefundOrder, RefundProvider
from payments.providers.choose import PROVIDERS

DIED = 86
WRITES = ("INSERT", "UPDATE", "DELETE")
# A transaction is a commit too; the name is for a test that needs one which holds rows.
Kind = Literal["commit", "call", "transaction"]


def points_of(commits: int, calls: int) -> list[str]:
    """All moments of a run that made so many commits and calls, such as `after commit 3`."""
    counts: tuple[tuple[Kind, int], ...] = (("commit", commits), ("call", calls))
    return [
        f"{when} {kind} {number}"
        for kind, count in counts
        for number in range(1, count + 1)
        for when in ("before", "after")
    ]


class Moments:
    """Counts the moments of this process as they come; at `fatal` it is gone, at `frozen` it sleeps until woken."""

    def __init__(self, fatal: str = "", frozen: str = "") -> None:
        self.seen: Counter[str] = Counter()
        self._fatal = fatal
        self._frozen = frozen

    @contextmanager
    def around(self, kind: Kind) -> Iterator[None]:
        self.seen[kind] += 1
        number = self.seen[kind]
        self._reached(f"before {kind} {number}")
        try:
            yield
        finally:  # an answer that never comes is a moment too
            self._reached(f"after {kind} {number}")

    def _reached(self, moment: str) -> None:
        if moment == self._fatal:
            os._exit(DIED)
        if moment == self._frozen:
            os.kill(os.getpid(), signal.SIGSTOP)


def watch(moments: Moments) -> None:
    """From now on every commit of this process, also one of a single statement, and every provider call is a moment."""
    commit = BaseDatabaseWrapper._commit  # type: ignore[attr-defined]

    def watched_commit(self: BaseDatabaseWrapper) -> None:
        with moments.around("commit"), moments.around("transaction"):
            commit(self)

    def watched_statement(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if context["connection"].in_atomic_block or not sql.startswith(WRITES):
            return execute(sql, params, many, context)
        with moments.around("commit"):
            return execute(sql, params, many, context)

    BaseDatabaseWrapper._commit = watched_commit  # type: ignore[attr-defined]
    connection.execute_wrappers.append(watched_statement)
    for name, provider in list(PROVIDERS.items()):
        PROVIDERS[name] = _Watched(provider, moments)


class _Watched:
    """A provider whose calls are moments."""

    def __init__(self, provider: RefundProvider, moments: Moments) -> None:
        self._provider = provider
        self._moments = moments

    def refund(self, order: RefundOrder) -> ProviderAnswer:
        with self._moments.around("call"):
            return self._provider.refund(order)

    def look_up(self, order: RefundOrder) -> ProviderAnswer | None:
        with self._moments.around("call"):
            return self._provider.look_up(order)
