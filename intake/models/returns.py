from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from intake.models.request import RefundRequest


class Return(models.Model):
    """An item on its way back under a code, watched by at most two checks."""

    class Status(models.TextChoices):
        WAITING = "waiting", "Waiting for the parcel"
        RECEIVED = "received", "Received"
        CLOSED = "closed", "Never came"
        WITHDRAWN = "withdrawn", "Taken back"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    request = models.ForeignKey(RefundRequest, on_delete=models.PROTECT, related_name="returns")
    code = models.CharField(max_length=12, unique=True)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.WAITING)
    amount_minor = models.PositiveBigIntegerField("agreed amount with shipping (minor units)")
    shipping_minor = models.PositiveBigIntegerField("of it shipping (minor units)", default=0)
    units = models.PositiveIntegerField("units agreed; empty: all of the request", null=True, blank=True)
    ship_by = models.DateTimeField()
    check_at = models.DateTimeField(help_text="When the next check is due.")
    reminded_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["created_at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["request"], condition=Q(status="waiting"), name="one_waiting_return_per_request"
            ),
            models.CheckConstraint(condition=Q(amount_minor__gt=0), name="return_amount_above_zero"),
            models.CheckConstraint(condition=Q(units__isnull=True) | Q(units__gt=0), name="return_units_above_zero"),
        ]

    def __str__(self) -> str:
        return self.code

    @property
    def agreed_units(self) -> int:
        """How many units `amount_minor` is for."""
        return self.units or self.request.units


class Receipt(models.Model):
    """Staff say what arrived under a return code: `units` of the line."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    parcel = models.OneToOneField(Return, on_delete=models.PROTECT, related_name="receipt")
    units = models.PositiveIntegerField()
    recorded_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    source = models.CharField(max_length=10, choices=[("page", "Desk"), ("api", "API"), ("seed", "Demo data")])
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["created_at", "id"]
        constraints = [models.CheckConstraint(condition=Q(units__gt=0), name="receipt_units_above_zero")]

    def __str__(self) -> str:
        return f"{self.units} received"
