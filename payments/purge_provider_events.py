"""Forgets messages of the providers that cannot come again."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from payments.models import ProviderEvent

# A provider sends an unanswered message again for a few days (Stripe: three); the rest is kept for whoever looks back.
KEPT = timedelta(days=90)
MOST_AT_ONCE = 1000


def purge_provider_events() -> int:
    """Deletes at most MOST_AT_ONCE messages received more than 90 days ago, oldest first; returns how many."""
    old = ProviderEvent.objects.filter(received_at__lt=timezone.now() - KEPT).order_by("received_at", "id")
    deleted, _ = ProviderEvent.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:MOST_AT_ONCE])).delete()
    return deleted
