from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from intake.models.request import RefundRequest
from payments.append_only import AppendOnly


class Step(AppendOnly):
    """One line of a request's timeline.

    `position` is the request's `rev` when the step was first written and orders the timeline; `rev` is that of its
    last write, so that a reader who knows rev N asks for what is newer. A step for the customer is shown to staff
    too. Everything the customer may not read (who in the team, arguments, results, tokens) is in other fields.
    Once it has ended, nothing of it changes.
    """

    CHANGEABLE = frozenset(
        {
            "rev",
            "state",
            "title",
            "detail",
            "result",
            "provider",
            "model",
            "tokens_in",
            "tokens_out",
            "cost_micro",
            "skipped",
            "duration_ms",
        }
    )
    CHANGEABLE_WHILE = Q(state="running")

    class Kind(models.TextChoices):
        TRIGGER = "trigger", "Trigger"
        TOOL = "tool", "Tool"
        ACTION = "action", "Action"
        MESSAGE = "message", "Message"
        ERROR = "error", "Error"
        FINISH = "finish", "Finish"

    class Actor(models.TextChoices):
        AGENT = "agent", "Agent"
        STAFF = "staff", "Staff"
        CUSTOMER = "customer", "Customer"
        SYSTEM = "system", "System"

    class State(models.TextChoices):
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"

    request = models.ForeignKey(RefundRequest, on_delete=models.PROTECT, related_name="steps")
    rev = models.PositiveIntegerField()
    position = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=Kind.choices)
    actor = models.CharField(max_length=10, choices=Actor.choices)
    actor_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    for_customer = models.BooleanField(default=False)
    run_uuid = models.UUIDField(null=True, blank=True, db_index=True)
    message_key = models.CharField(
        max_length=60, blank=True, help_text="Names a message to the customer; one per run and key."
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.DONE)
    title = models.CharField(max_length=160)
    detail = models.TextField(max_length=2000, blank=True)
    tool = models.CharField(max_length=40, blank=True)
    arguments = models.JSONField(null=True, blank=True)
    result = models.JSONField(null=True, blank=True)
    provider = models.CharField(max_length=40, blank=True)
    model = models.CharField(max_length=120, blank=True)
    tokens_in = models.PositiveIntegerField(null=True, blank=True)
    tokens_out = models.PositiveIntegerField(null=True, blank=True)
    cost_micro = models.PositiveBigIntegerField("cost (millionths of a dollar)", null=True, blank=True)
    skipped = models.JSONField(
        "providers that were passed over", default=list, blank=True, help_text='`[{"provider": str, "why": str}]`'
    )
    duration_ms = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["request", "rev"], name="one_step_per_rev"),
            models.UniqueConstraint(fields=["request", "position"], name="one_step_per_position"),
            models.UniqueConstraint(
                fields=["run_uuid", "message_key"], condition=~Q(message_key=""), name="one_message_per_run_and_key"
            ),
        ]

    def __str__(self) -> str:
        return self.title
