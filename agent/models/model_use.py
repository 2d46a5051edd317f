from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class TokenDay(models.Model):
    """The token ledger: what one provider did for one customer's requests on one day (shop time zone).

    `tokens_in` and `tokens_out` sum the calls; where a provider said no number, a guess stands for it in `tokens_in`.
    `calls_without_tokens` are the calls whose provider did not say both.
    `cost_micro` (millionths of a US dollar) sums the calls whose cost is known; `calls_without_cost` are the others.
    """

    day = models.DateField()
    provider = models.CharField(max_length=40)
    customer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    calls = models.PositiveIntegerField(default=0)
    tokens_in = models.PositiveBigIntegerField(default=0)
    tokens_out = models.PositiveBigIntegerField(default=0)
    calls_without_tokens = models.PositiveIntegerField(default=0)
    cost_micro = models.PositiveBigIntegerField("known cost (millionths of a dollar)", default=0)
    calls_without_cost = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-day", "provider"]
        indexes = [models.Index(fields=["day", "customer"])]
        constraints = [
            models.UniqueConstraint(fields=["day", "provider", "customer"], name="one_token_day_per_customer"),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.provider}"


class ProviderState(models.Model):
    """How a model provider behaves: shared by all workers, so that each leaves a failing one alone for a while."""

    name = models.CharField(max_length=40, unique=True)
    failures = models.PositiveIntegerField("failed calls in a row", default=0)
    left_alone_until = models.DateTimeField(null=True, blank=True)
    key_refused_at = models.DateTimeField(null=True, blank=True)
    key_digest = models.CharField(
        max_length=16, blank=True, help_text="Of the refused key: a new key is tried at once."
    )
    last_trouble = models.CharField(max_length=200, blank=True)
    changed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.CheckConstraint(condition=~Q(name=""), name="provider_state_has_name")]

    def __str__(self) -> str:
        return self.name
