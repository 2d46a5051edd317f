"""Beat work of the ground that customers stand on."""

from __future__ import annotations

import logging
from datetime import timedelta

from celery import shared_task
from django.core.files.storage import Storage
from django.db import transaction
from django.utils import timezone

from intake.models import Photo

logger = logging.getLogger(__name__)

UNUSED_FOR = timedelta(days=1)
BATCH = 200


@shared_task
def purge_unused_photos() -> int:
    """Removes uploads that no request or reply took within a day, at most 200 a time; says how many."""
    with transaction.atomic():
        unused = Photo.objects.filter(request__isnull=True, reply__isnull=True)
        old = unused.filter(created_at__lt=timezone.now() - UNUSED_FOR).order_by("created_at")
        photos = list(old.select_for_update(skip_locked=True)[:BATCH])
        Photo.objects.filter(pk__in=[photo.pk for photo in photos]).delete()
    for photo in photos:
        _remove(photo.file.storage, photo.file.name or "")
    return len(photos)


def _remove(storage: Storage, name: str) -> None:
    try:
        storage.delete(name)
    except Exception as error:  # whatever the store is; the row is gone and nothing shows the file any more
        logger.warning("a purged photo's file stays in the store: %s", error)
