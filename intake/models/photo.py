from __future__ import annotations

import uuid

from django.conf import settings
from django.core.files.storage import Storage, storages
from django.db import models
from django.db.models import Q
from django.utils import timezone

from intake.models.conversation import Reply
from intake.models.request import RefundRequest


def photo_storage() -> Storage:
    """The private store of the photos; nothing in it has a public address."""
    return storages["photos"]


def random_name(instance: Photo, filename: str) -> str:
    """A name that tells nothing; what the customer called the file decides nothing."""
    return f"{uuid.uuid4().hex}.jpg"


class Photo(models.Model):
    """A cleaned copy of a picture a customer sent: always JPEG, upright, without metadata.

    It belongs to nobody's request until submitted with one (or with a reply); from then on it is locked.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="photos")
    request = models.ForeignKey(RefundRequest, on_delete=models.PROTECT, null=True, blank=True, related_name="photos")
    reply = models.ForeignKey(Reply, on_delete=models.PROTECT, null=True, blank=True, related_name="photos")
    file = models.FileField(storage=photo_storage, upload_to=random_name, max_length=120)
    digest = models.CharField("SHA-256 of what is stored", max_length=64, db_index=True)
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    looks = models.JSONField(
        "perceptual hashes", default=list, blank=True, help_text="Hex; of the whole picture first, then of its parts."
    )
    camera = models.JSONField(
        "what the camera wrote", default=dict, blank=True, help_text="Time and device, for staff only; never a place."
    )
    given_name = models.CharField("name the customer's file had, shortened", max_length=80, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["created_at", "id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(request__isnull=True) | Q(reply__isnull=True), name="photo_of_request_or_of_reply"
            ),
        ]

    def __str__(self) -> str:
        return self.given_name or str(self.pk)
