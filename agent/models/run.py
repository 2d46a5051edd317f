from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q
from django.utils import timezone

from intake.models import RefundRequest


class Run(models.Model):
    """The agent's one piece of work for one trigger. The row is the queue; Celery only rings the bell.

    `key` names the trigger (`req:`, `dec:`, `ans:`, `late:`, `chk:`, `rcv:`, `out:`), so that it makes one run.
    While `running`, the worker that holds `token` may write, until `lease_until`.
    """

    class Trigger(models.TextChoices):
        REQUEST = "request", "New request"
        DECISION = "decision", "Decision"
        REPLY = "reply", "Customer's answer"
        LATE = "late", "No answer"
        CHECK = "check", "Return check"
        RECEIPT = "receipt", "Item received"
        OUTCOME = "outcome", "News of a refund"

    class Status(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    request = models.ForeignKey(RefundRequest, on_delete=models.PROTECT, related_name="runs")
    trigger = models.CharField(max_length=10, choices=Trigger.choices)
    key = models.CharField(max_length=80, unique=True)
    source_id = models.CharField(max_length=40, help_text="Primary key of the row that triggered it.")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    due_at = models.DateTimeField(default=timezone.now)
    announced_at = models.DateTimeField(null=True, blank=True)
    token = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    moved_request = models.BooleanField(
        default=False, help_text="This run's claim moved the request to working; a resumed run must know."
    )
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    result = models.CharField("how it ended", max_length=200, blank=True)
    verdicts = models.JSONField("what each rule said", default=list, blank=True)
    policy_number = models.PositiveIntegerField(null=True, blank=True)
    prompt_version = models.CharField(max_length=20, blank=True)
    provider = models.CharField(max_length=40, blank=True)
    model = models.CharField(max_length=120, blank=True)
    tokens_in = models.PositiveIntegerField(null=True, blank=True)
    tokens_out = models.PositiveIntegerField(null=True, blank=True)
    cost_micro = models.PositiveBigIntegerField("cost (millionths of a dollar)", null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["created_at", "id"]
        indexes = [
            models.Index(fields=["status", "due_at"]),
            models.Index(fields=["status", "lease_until"]),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["request"], condition=Q(status="running"), name="one_running_run_per_request"
            ),
            models.CheckConstraint(
                condition=~Q(status="running") | Q(token__isnull=False, lease_until__isnull=False),
                name="running_run_has_token_and_lease",
            ),
        ]

    def __str__(self) -> str:
        return self.key
