from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from intake.models.request import RefundRequest


class Question(models.Model):
    """What staff ask the customer. It is open while there is no reply and it was not withdrawn."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    request = models.ForeignKey(RefundRequest, on_delete=models.PROTECT, related_name="questions")
    text = models.TextField(max_length=500)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    reply_by = models.DateTimeField(help_text="After this, staff get the request back.")
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["created_at", "id"]

    def __str__(self) -> str:
        return self.text[:60]


class Reply(models.Model):
    """What came back to a question; one per question, by constraint."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    question = models.OneToOneField(Question, on_delete=models.PROTECT, related_name="reply")
    message = models.TextField(max_length=2000)
    source = models.CharField(max_length=10, choices=RefundRequest.Source.choices)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["created_at", "id"]
        verbose_name_plural = "replies"

    def __str__(self) -> str:
        return self.message[:60]
