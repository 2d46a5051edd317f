from __future__ import annotations

from django.db import models
from django.utils import timezone


class ProviderEvent(models.Model):
    """One message a payment provider sent, known by the provider's own id: the same message again is the same row."""

    provider = models.CharField(max_length=20)
    event_id = models.CharField(max_length=120)
    kind = models.CharField(max_length=80)
    said_at = models.DateTimeField("when the provider made it")
    received_at = models.DateTimeField(default=timezone.now)
    effect = models.CharField("what came of it", max_length=200, blank=True)

    class Meta:
        ordering = ["-received_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["provider", "event_id"], name="one_row_per_provider_event")]

    def __str__(self) -> str:
        return f"{self.provider} {self.event_id}"
