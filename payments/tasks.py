"""Payments' recurring work."""

from __future__ import annotations

import threading

from celery import shared_task

from payments import purge_provider_events as purge
from payments.look_again import look_again_at_refunds
from payments.settle_in_flight import settle_due_refunds

_settling = threading.Lock()


@shared_task(name="payments.tasks.settle_in_flight")
def settle_in_flight() -> None:
    """Asks the provider again about refunds without its last word, and about those it may still take back.

    One at a time in each worker: with a bank that hangs, the next ones must not take the threads of the sweep.
    """
    if not _settling.acquire(blocking=False):
        return
    try:
        settle_due_refunds()
        look_again_at_refunds()
    finally:
        _settling.release()


@shared_task(name="payments.tasks.purge_provider_events")
def purge_provider_events() -> None:
    """Forgets messages of the providers that are older than a repetition can be."""
    purge.purge_provider_events()
