from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from intake.models import RefundRequest


class Evaluation(models.Model):
    """One measuring of the agent: a suite of scenarios, or one case played again. It moves no money of the shop.

    Scenarios are played in a scratch database by a process of its own; only what came of them is kept here.
    `options` say what was changed (`{"provider", "model", "policy": {...}, "prompt"}`); `scores` as in `score.py`.
    """

    class Kind(models.TextChoices):
        SUITE = "suite", "Scenarios"
        AGAIN = "again", "A case played again"

    class Status(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    request = models.ForeignKey(
        RefundRequest, on_delete=models.PROTECT, null=True, blank=True, related_name="played_again"
    )
    scenario = models.JSONField("the case as a scenario", null=True, blank=True)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    provider = models.CharField(max_length=40, blank=True)
    model = models.CharField(max_length=120, blank=True)
    prompt_version = models.CharField(max_length=20, blank=True)
    options = models.JSONField(default=dict, blank=True)
    trials = models.PositiveSmallIntegerField("times each scenario was played", default=1)
    scores = models.JSONField(default=dict, blank=True)
    trouble = models.CharField("why it failed", max_length=300, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True, help_text="When its process was given it.")
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "id"]
        indexes = [models.Index(fields=["kind", "-created_at"])]
        constraints = [
            models.CheckConstraint(
                condition=~Q(kind="again") | Q(request__isnull=False, scenario__isnull=False),
                name="played_again_has_its_case",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.created_at:%Y-%m-%d %H:%M}"


class Trial(models.Model):
    """One playing of one scenario. `wanted` and `got` as in `scenario.Wanted`; `timeline`: its steps as JSON."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="played")
    kind = models.CharField("folder", max_length=40)
    scenario = models.CharField(max_length=80)
    number = models.PositiveSmallIntegerField(default=1)
    passed = models.BooleanField()
    differences = models.JSONField(default=list)
    wanted = models.JSONField(default=dict)
    got = models.JSONField(default=dict)
    timeline = models.JSONField(default=list)
    tokens_in = models.PositiveIntegerField(null=True, blank=True)
    tokens_out = models.PositiveIntegerField(null=True, blank=True)
    cost_micro = models.PositiveBigIntegerField(null=True, blank=True)
    steps = models.PositiveIntegerField(default=0)
    milliseconds = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["kind", "scenario", "number"]
        constraints = [
            models.UniqueConstraint(fields=["evaluation", "scenario", "number"], name="one_trial_per_number"),
        ]

    def __str__(self) -> str:
        return f"{self.scenario} {self.number}"
