from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone


class PolicyVersion(models.Model):
    """The shop's refund rules: numbers and texts, versioned together. A request keeps the version it was asked under.

    The newest version (highest number) is in force. Amounts in minor units of `currency`, spans in calendar days.
    """

    number = models.PositiveIntegerField(unique=True)
    currency = models.CharField(max_length=3)
    auto_refund_limit_minor = models.PositiveBigIntegerField()
    refund_window_days = models.PositiveIntegerField()
    history_days = models.PositiveIntegerField(default=90)
    daily_budget_minor = models.PositiveBigIntegerField(default=50_000)
    return_above_minor = models.PositiveBigIntegerField(
        default=15_000, help_text="Damaged or defective goods above this come back first."
    )
    wrong_item_return_above_minor = models.PositiveBigIntegerField(
        default=5_000, help_text="A wrong item above this comes back first."
    )
    warranty_days = models.PositiveIntegerField(default=365)
    ship_within_days = models.PositiveIntegerField(default=7)
    return_check_minutes = models.PositiveIntegerField(default=10_080)
    reply_days = models.PositiveIntegerField(default=14)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.CheckConstraint(condition=Q(number__gt=0), name="policy_number_above_zero"),
            models.CheckConstraint(condition=Q(return_check_minutes__gt=0), name="policy_return_check_above_zero"),
        ]

    def __str__(self) -> str:
        return f"Policy {self.number}"


class PolicySection(models.Model):
    """One topic of a policy version; `{names}` in the body stand for the version's numbers, filled in when read."""

    class Topic(models.TextChoices):
        OVERVIEW = "overview", "Overview"
        AUTOMATIC_REFUNDS = "automatic_refunds", "Automatic refunds"
        DAMAGED_IN_TRANSIT = "damaged_in_transit", "Damaged in transit"
        DEFECTIVE = "defective", "Defective"
        WRONG_ITEM = "wrong_item", "Wrong item"
        CHANGED_MIND = "changed_mind", "Changed mind"
        RETURNS = "returns", "Returns"

    policy = models.ForeignKey(PolicyVersion, on_delete=models.PROTECT, related_name="sections")
    topic = models.CharField(max_length=30, choices=Topic.choices)
    position = models.PositiveSmallIntegerField(default=0)
    title = models.CharField(max_length=120)
    body = models.TextField()

    class Meta:
        ordering = ["position", "id"]
        constraints = [models.UniqueConstraint(fields=["policy", "topic"], name="one_section_per_topic")]

    def __str__(self) -> str:
        return self.title
