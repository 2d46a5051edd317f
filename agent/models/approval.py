from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from agent.models.run import Run
from intake.models import RefundRequest
from payments.append_only import AppendOnly


class Approval(models.Model):
    """The card: what the agent recommends to staff for one request. Open until decided or withdrawn.

    `findings` and `concerns`: lists of `{"text": str, "step": int | null, "source": "model" | "rule" | "code"}`, where
    `step` is the position of the step it rests on. `failed_rules`: list of `{"rule": str, "sentence": str}`.
    `counter_case`: the strongest reason against the recommendation, in the same shape as a concern, or null.
    """

    class Recommendation(models.TextChoices):
        REFUND = "refund", "Refund"
        REFUND_AFTER_RETURN = "refund_after_return", "Refund after return"
        DECLINE = "decline", "Decline"
        ASK_CUSTOMER = "ask_customer", "Ask the customer"
        MANUAL_REVIEW = "manual_review", "Manual review"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    request = models.ForeignKey(RefundRequest, on_delete=models.PROTECT, related_name="approvals")
    run = models.ForeignKey(Run, on_delete=models.PROTECT, null=True, blank=True, related_name="approvals")
    recommendation = models.CharField(max_length=20, choices=Recommendation.choices)
    amount_minor = models.PositiveBigIntegerField("amount it would pay (minor units)")
    findings = models.JSONField(default=list)
    concerns = models.JSONField(default=list)
    failed_rules = models.JSONField(default=list)
    reasoning = models.TextField(max_length=2000, blank=True)
    counter_case = models.JSONField("strongest reason against it", null=True, blank=True)
    would_change = models.CharField("the one fact that would change it", max_length=240, blank=True)
    draft_question = models.TextField(max_length=500, blank=True)
    require_return = models.BooleanField(default=False)
    opened_at = models.DateTimeField(default=timezone.now)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["opened_at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["request"], condition=Q(closed_at__isnull=True), name="one_open_approval_per_request"
            ),
            models.CheckConstraint(condition=Q(amount_minor__gt=0), name="approval_amount_above_zero"),
        ]

    def __str__(self) -> str:
        return f"{self.request}: {self.get_recommendation_display()}"


class Decision(AppendOnly):
    """What a staff member answered to one card. `amount_minor` includes `shipping_minor`; both only for approve."""

    CHANGEABLE = frozenset({"carried_out_at", "set_aside_at"})

    class Choice(models.TextChoices):
        APPROVE = "approve", "Approve"
        ASK_CUSTOMER = "ask_customer", "Ask the customer"
        DECLINE = "decline", "Decline"

    class Source(models.TextChoices):
        DESK = "desk", "Desk"
        API = "api", "API"
        SEED = "seed", "Demo data"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    approval = models.OneToOneField(Approval, on_delete=models.PROTECT, related_name="decision")
    choice = models.CharField(max_length=15, choices=Choice.choices)
    note = models.TextField(max_length=1000, blank=True)
    amount_minor = models.PositiveBigIntegerField("approved amount with shipping (minor units)", null=True, blank=True)
    shipping_minor = models.PositiveBigIntegerField("of it shipping (minor units)", default=0)
    units = models.PositiveIntegerField("units approved; empty: all that were asked for", null=True, blank=True)
    require_return = models.BooleanField(default=False)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="decisions")
    source = models.CharField(max_length=10, choices=Source.choices)
    created_at = models.DateTimeField(default=timezone.now)
    carried_out_at = models.DateTimeField(null=True, blank=True)
    set_aside_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["created_at", "id"]
        constraints = [
            models.CheckConstraint(
                condition=~Q(choice="approve") | Q(amount_minor__gt=0), name="approved_amount_above_zero"
            ),
            models.CheckConstraint(
                condition=Q(amount_minor__isnull=True) | Q(shipping_minor__lte=models.F("amount_minor")),
                name="decision_shipping_within_amount",
            ),
            models.CheckConstraint(
                condition=Q(units__isnull=True) | Q(units__gt=0, choice="approve"),
                name="only_approved_units_are_counted",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_choice_display()} by {self.decided_by}"
