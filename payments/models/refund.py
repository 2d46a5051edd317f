from __future__ import annotations

import uuid

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from payments.append_only import AppendOnly
from payments.models.charge import Charge
from payments.models.order import OrderLine

LIVE_REFUND_STATUSES = ("reserved", "pending", "succeeded")
# The pending reason of a refund that goes on only once the customer has answered the provider. Rows hold it: another
# wording needs a migration.
NEEDS_THE_CUSTOMER = "the customer has to say where the money should go, as the provider's e-mail asks"


class Refund(AppendOnly):
    """Money given back to the card of one charge.

    `reserved`: the row exists and the provider has given no answer yet; `pending`: the provider took it, it is on its
    way; `succeeded`, `failed`: the provider's last word. Every status but `failed` is live and counts against the
    charge. `key` is the idempotency key of each call to the provider for this row.
    """

    CHANGEABLE = frozenset(
        {"status", "failure_reason", "pending_reason", "provider_reference", "asked_at", "settled_at"}
    )

    class Status(models.TextChoices):
        RESERVED = "reserved", "Reserved"
        PENDING = "pending", "On its way"
        SUCCEEDED = "succeeded", "Refunded"
        FAILED = "failed", "Failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    charge = models.ForeignKey(Charge, on_delete=models.PROTECT, related_name="refunds")
    line = models.ForeignKey(OrderLine, on_delete=models.PROTECT, null=True, blank=True, related_name="refunds")
    request_uuid = models.UUIDField(
        null=True, blank=True, db_index=True, help_text="The refund request it pays; empty when made elsewhere."
    )
    run_uuid = models.UUIDField(null=True, blank=True, help_text="The run of the agent that reserved it.")
    attempt = models.PositiveSmallIntegerField(default=1)
    key = models.CharField("idempotency key", max_length=120, unique=True)
    reference = models.CharField(max_length=120, unique=True)
    provider_reference = models.CharField(max_length=120, null=True, blank=True, unique=True)
    currency = models.CharField(max_length=3)
    amount_minor = models.PositiveBigIntegerField("amount with shipping (minor units)")
    shipping_minor = models.PositiveBigIntegerField("of it shipping (minor units)", default=0)
    units = models.PositiveIntegerField(default=0)
    automatic = models.BooleanField(default=False)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.RESERVED)
    failure_reason = models.CharField(max_length=200, blank=True)
    pending_reason = models.CharField(
        max_length=200, blank=True, help_text="Why the provider has not sent it yet, in the provider's words."
    )
    card_brand = models.CharField(max_length=20)
    card_last4 = models.CharField(max_length=4)
    reserved_at = models.DateTimeField(default=timezone.now)
    asked_at = models.DateTimeField(null=True, blank=True, help_text="When the provider was last asked.")
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-reserved_at", "-id"]
        indexes = [models.Index(fields=["status", "asked_at"])]
        constraints = [
            models.CheckConstraint(condition=Q(amount_minor__gt=0), name="refund_above_zero"),
            models.CheckConstraint(
                condition=Q(shipping_minor__lte=F("amount_minor")), name="refund_shipping_within_amount"
            ),
            models.UniqueConstraint(
                fields=["request_uuid"],
                condition=Q(status__in=LIVE_REFUND_STATUSES),
                name="one_live_refund_per_request",
            ),
            models.UniqueConstraint(fields=["request_uuid", "attempt"], name="one_refund_per_attempt"),
        ]

    def __str__(self) -> str:
        return self.reference

    @property
    def waits_for_customer(self) -> bool:
        return self.status == self.Status.PENDING and self.pending_reason == NEEDS_THE_CUSTOMER


class RefundOutcome(AppendOnly):
    """One answer of the provider about a refund, kept for good; the same answer by two roads is one row."""

    class Source(models.TextChoices):
        RUN = "run", "The run that asked"
        WEBHOOK = "webhook", "The provider's message"
        BEAT = "beat", "A later look"
        IMPORT = "import", "Import"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    refund = models.ForeignKey(Refund, on_delete=models.PROTECT, related_name="outcomes")
    status = models.CharField(max_length=12, choices=Refund.Status.choices)
    reason = models.CharField(max_length=200, blank=True)
    source = models.CharField(max_length=10, choices=Source.choices)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["created_at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["refund", "status"], condition=~Q(status="pending"), name="one_last_word_per_refund_and_status"
            ),
            models.CheckConstraint(condition=~Q(status="reserved"), name="outcome_is_an_answer"),
        ]

    def __str__(self) -> str:
        return f"{self.refund_id} {self.status}"
