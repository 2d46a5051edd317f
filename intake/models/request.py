from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from intake.models.policy import PolicyVersion
from intake.statuses import OPEN, Status
from payments.models import OrderLine

FIRST_NUMBER = 1000


class RefundRequest(models.Model):
    """A customer asks for money back for units of one order line.

    `amount_minor` is the price of the units asked for (minor units of `currency`), fixed at submission from what was
    paid. `rev` counts the writes to the timeline. `reopened`: it came back from an end, so the line may hold another
    open request beside it.
    """

    class Reason(models.TextChoices):
        DAMAGED = "damaged", "Arrived damaged"
        DEFECTIVE = "defective", "Does not work"
        WRONG_ITEM = "wrong_item", "Wrong item"
        CHANGED_MIND = "changed_mind", "Changed my mind"

    class Source(models.TextChoices):
        PAGE = "page", "Order page"
        API = "api", "API"
        SEED = "seed", "Demo data"

    uuid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    line = models.ForeignKey(OrderLine, on_delete=models.PROTECT, related_name="refund_requests")
    customer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="refund_requests")
    policy = models.ForeignKey(PolicyVersion, on_delete=models.PROTECT, related_name="requests")
    units = models.PositiveIntegerField()
    amount_minor = models.PositiveBigIntegerField("amount asked for (minor units)")
    currency = models.CharField(max_length=3)
    reason = models.CharField(max_length=20, choices=Reason.choices)
    details = models.TextField(max_length=1000)
    source = models.CharField(max_length=10, choices=Source.choices)
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.SUBMITTED)
    status_changed_at = models.DateTimeField(default=timezone.now)
    reopened = models.BooleanField(default=False)
    rev = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField("asked at", default=timezone.now)

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["status", "status_changed_at"]),
            models.Index(fields=["customer", "-created_at"]),
            models.Index(fields=["-created_at"]),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["line"],
                condition=Q(status__in=sorted(OPEN), reopened=False),
                name="one_open_request_per_line",
            ),
            models.CheckConstraint(condition=Q(units__gt=0), name="request_units_above_zero"),
            models.CheckConstraint(condition=Q(amount_minor__gt=0), name="request_amount_above_zero"),
            models.CheckConstraint(condition=Q(status__in=Status.values), name="request_status_is_known"),
        ]

    def __str__(self) -> str:
        return f"#{self.number}"

    @property
    def number(self) -> int:
        """What people see and say: 1000 and the row's id."""
        return FIRST_NUMBER + self.pk
