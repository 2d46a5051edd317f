from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone


class Order(models.Model):
    """What a customer bought in one go. All amounts of an order are in its own currency."""

    class Status(models.TextChoices):
        PLACED = "placed", "Placed"
        SHIPPED = "shipped", "On its way"
        DELIVERED = "delivered", "Delivered"

    number = models.CharField(max_length=20, unique=True)
    customer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="orders")
    currency = models.CharField(max_length=3)
    shipping_minor = models.PositiveBigIntegerField("shipping paid (minor units)", default=0)
    placed_at = models.DateTimeField(default=timezone.now)
    shipped_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-placed_at", "-id"]
        indexes = [models.Index(fields=["customer", "-placed_at"])]

    def __str__(self) -> str:
        return self.number


class OrderLine(models.Model):
    """Units of one article as bought; `paid_minor` is what they cost after discount and tax, for all units."""

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="lines")
    sku = models.CharField(max_length=40)
    name = models.CharField(max_length=200)
    quantity = models.PositiveIntegerField()
    unit_price_minor = models.PositiveBigIntegerField("unit price (minor units)")
    paid_minor = models.PositiveBigIntegerField("paid for all units (minor units)")
    delivered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["order", "sku"], name="one_line_per_sku"),
            models.CheckConstraint(condition=Q(quantity__gt=0), name="line_units_above_zero"),
        ]

    def __str__(self) -> str:
        return self.name
