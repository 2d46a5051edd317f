from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from payments.append_only import AppendOnly


class Switch(models.Model):
    """The shop's brake: one row named `automatic_refunds`; while it is paused, each refund waits for a person."""

    AUTOMATIC_REFUNDS = "automatic_refunds"

    name = models.CharField(max_length=40, unique=True)
    paused = models.BooleanField(default=False)
    reason = models.CharField(max_length=200, blank=True)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "switches"

    def __str__(self) -> str:
        return f"{self.name}: {'paused' if self.paused else 'on'}"


class SwitchThrow(AppendOnly):
    """Each time the brake was thrown: who, when, why. The newest row of a switch says what the switch says."""

    switch = models.ForeignKey(Switch, on_delete=models.PROTECT, related_name="throws")
    paused = models.BooleanField()
    reason = models.CharField(max_length=200, blank=True)
    thrown_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.switch.name}: {'paused' if self.paused else 'on'}"


class BudgetDay(models.Model):
    """Automatic refunds of one calendar day in the shop's time zone, in minor units of one currency."""

    day = models.DateField()
    currency = models.CharField(max_length=3)
    spent_minor = models.PositiveBigIntegerField(default=0)

    class Meta:
        ordering = ["-day"]
        constraints = [models.UniqueConstraint(fields=["day", "currency"], name="one_budget_per_day_and_currency")]

    def __str__(self) -> str:
        return f"{self.day} {self.currency}"
