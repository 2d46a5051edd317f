"""Beat work of the ground that customers stand on, and the mail that goes out from it."""

from __future__ import annotations

import logging
import time
from datetime import timedelta

from celery import shared_task
from django.core.files.storage import Storage
from django.db import transaction
from django.utils import timezone

from intake.look_alikes import LOOK_BACK, OF_A_REQUEST
from intake.models import Photo
from intake.password_links import MAIL_TASK, mail_link
from intake.photos import read_photo
from intake.picture_looks import looks_read_later

logger = logging.getLogger(__name__)

UNUSED_FOR = timedelta(days=1)
BATCH = 200
LOOKS_AT_ONCE = 50
LOOKS_SECONDS = 10.0
MAIL_TRIES_AGAIN = 4
MAIL_PAUSE_SECONDS = 30


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


@shared_task
def read_missing_looks() -> int:
    """Reads the looks of pictures that were kept before looks were and may still be compared: at most 50 a time and for
    ten seconds; says of how many. In no order, so that files which cannot be read do not stand in front of the others
    for ever."""
    since, stop_at = timezone.now() - LOOK_BACK, time.monotonic() + LOOKS_SECONDS
    without = Photo.objects.filter(OF_A_REQUEST, looks=[], created_at__gte=since).order_by("?")
    read = 0
    for photo in without[:LOOKS_AT_ONCE]:
        if time.monotonic() > stop_at:
            break
        try:
            looks = looks_read_later(read_photo(photo), timezone.now())
        except OSError as error:
            logger.info("the looks of a photo cannot be read: %s", error)
            continue
        read += Photo.objects.filter(pk=photo.pk, looks=[]).update(looks=looks)
    return read


@shared_task(name=MAIL_TASK, autoretry_for=(OSError,), max_retries=MAIL_TRIES_AGAIN, retry_backoff=MAIL_PAUSE_SECONDS)
def mail_password_link(user_pk: int, origin: str) -> bool:
    """Takes the account's number, so that no link lies in the broker. A mail server that is away is asked again."""
    return mail_link(user_pk, origin)


def _remove(storage: Storage, name: str) -> None:
    try:
        storage.delete(name)
    except Exception as error:  # whatever the store is; the row is gone and nothing shows the file any more
        logger.warning("a purged photo's file stays in the store: %s", error)
