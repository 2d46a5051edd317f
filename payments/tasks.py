"""Payments' recurring work."""

from __future__ import annotations

from celery import shared_task

from payments import purge_provider_events as purge
from payments.settle_in_flight import settle_due_refunds


@shared_task(name="payments.tasks.settle_in_flight")
def settle_in_flight() -> None:
    """Asks the provider again about refunds without its last word."""
    settle_due_refunds()


@shared_task(name="payments.tasks.purge_provider_events")
def purge_provider_events() -> None:
    """Forgets messages of the providers that are older than a repetition can be."""
    purge.purge_provider_events()
