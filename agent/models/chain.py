from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from intake.models import RefundRequest
from payments.append_only import AppendOnly


class ChainRecord(AppendOnly):
    """One link of a request's book: a decision, a reserve, an outcome or a seal, with the hash of the link before.

    `facts` hold what was known at that moment (rules with their inputs, photo digests, policy version, who decided),
    so that the decision can be computed again from them. `hash` is over sequence, kind, subject, facts and
    `previous_hash` (64 zeros for the first). Each link seals the steps that ended since the one before; a `timeline`
    link does nothing else: its subject is the request's key and `rev`.
    """

    class Kind(models.TextChoices):
        DECISION = "decision", "Decision"
        RESERVE = "reserve", "Money reserved"
        OUTCOME = "outcome", "Provider's answer"
        TIMELINE = "timeline", "Timeline sealed"

    request = models.ForeignKey(RefundRequest, on_delete=models.PROTECT, related_name="chain")
    sequence = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=Kind.choices)
    subject = models.CharField(max_length=40, help_text="Primary key of the row it is about.")
    facts = models.JSONField()
    previous_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["request_id", "sequence"]
        constraints = [
            models.UniqueConstraint(fields=["request", "sequence"], name="one_link_per_sequence"),
            models.UniqueConstraint(fields=["kind", "subject"], name="one_link_per_fact"),
            models.CheckConstraint(condition=Q(sequence__gt=0), name="chain_starts_at_one"),
        ]

    def __str__(self) -> str:
        return f"{self.request_id}:{self.sequence}"


class ChainAnchor(AppendOnly):
    """The heads of all chains at the end of one day, in one hash, chained to the day before."""

    day = models.DateField(unique=True)
    chains = models.PositiveIntegerField()
    records = models.PositiveIntegerField()
    last_record_id = models.PositiveBigIntegerField()
    previous_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-day"]

    def __str__(self) -> str:
        return str(self.day)
