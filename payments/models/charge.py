from __future__ import annotations

import uuid

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from payments.append_only import AppendOnly
from payments.models.order import Order


class Charge(AppendOnly):
    """Money taken from a card for an order; an order may have several.

    `reserved_minor` is the sum of this charge's live refunds and never passes `captured_minor`: the constraint is the
    last word on whether money may go back. `provider` took the money, and whoever makes the row names it: a charge of
    the shop's own book would be "refunded" without any money moving.
    """

    CHANGEABLE = frozenset({"reserved_minor"})

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="charges")
    provider = models.CharField(max_length=20)
    reference = models.CharField(max_length=120, unique=True)
    currency = models.CharField(max_length=3)
    captured_minor = models.PositiveBigIntegerField("captured (minor units)")
    reserved_minor = models.PositiveBigIntegerField("given back or on its way (minor units)", default=0)
    card_brand = models.CharField(max_length=20)
    card_last4 = models.CharField(max_length=4)
    captured_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["captured_at", "id"]
        constraints = [
            models.CheckConstraint(condition=~Q(provider=""), name="charge_names_its_provider"),
            models.CheckConstraint(condition=Q(captured_minor__gt=0), name="charge_above_zero"),
            models.CheckConstraint(
                condition=Q(reserved_minor__lte=F("captured_minor")), name="reserved_never_above_captured"
            ),
        ]

    def __str__(self) -> str:
        return self.reference

    @property
    def left_minor(self) -> int:
        """What can still be given back, in minor units."""
        return self.captured_minor - self.reserved_minor
