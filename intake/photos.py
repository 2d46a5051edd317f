"""Keeps the customers' photos: cleaned, under a random name, in private storage; and locks them to what they prove."""

from __future__ import annotations

import logging
import unicodedata
import uuid
from collections.abc import Iterable, Sequence

from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Q, QuerySet

from intake import picture
from intake.case_access import may_see_requests, read_uuid
from intake.models import Photo, RefundRequest, Reply
from intake.refusals import Refusal

MAX_PHOTOS = 5
MAX_UNUSED_PHOTOS = 60
NAME_LENGTH = 80
# Control, format (direction marks), surrogate, private and separator characters: nothing a name needs.
UNSHOWN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
NOT_STORED = "The photo could not be stored just now. Add it again in a minute; nothing else is lost."

logger = logging.getLogger(__name__)


def keep_photo(owner: User, upload: UploadedFile[bytes]) -> Photo:
    """Cleans and stores an upload as an unused photo of `owner`.

    Raises Refusal photo_rejected (nothing is stored), too_many_requests above 60 unused photos, try_again when the
    store does not take it.
    """
    picture.check_size(upload.size or 0)
    if unused_photos(owner).count() >= MAX_UNUSED_PHOTOS:
        sentence = "You have sent many photos that no request uses yet. Submit your request, or wait a day."
        raise Refusal("too_many_requests", sentence, field="photos")
    upload.seek(0)
    data = upload.read()
    if len(data) != upload.size:  # a form that held more than `upload_limit` keeps
        sentence = "The form held more than it can take at once. Send this photo again by itself."
        raise Refusal("photo_rejected", sentence, field="photos")
    cleaned = picture.clean(data)
    photo = Photo(
        owner=owner,
        digest=cleaned.digest,
        width=cleaned.width,
        height=cleaned.height,
        looks=cleaned.looks,
        camera=cleaned.camera,
        given_name=shown_name(upload.name or ""),
    )
    _store(photo, cleaned.jpeg)
    try:
        photo.save()
    except BaseException:
        photo.file.delete(save=False)
        raise
    return photo


def read_photo(photo: Photo) -> bytes:
    """The stored JPEG. Raises OSError (FileNotFoundError when it is not there) when the store, whatever it is, does not
    give it."""
    try:
        with photo.file.open("rb") as stored:
            return stored.read()
    except OSError:  # also what django-storages says of a key that is not there
        raise
    except Exception as error:  # each store has errors of its own
        logger.warning("the store of the photos does not give one: %s", error)
        raise OSError(f"the store does not give {photo.file.name}: {error}") from error


def unused_photos(owner: User) -> QuerySet[Photo]:
    return Photo.objects.filter(owner=owner, request__isnull=True, reply__isnull=True)


def photos_for(person: User) -> QuerySet[Photo]:
    """The photos a person may look at: their own, and for staff who see requests all that belong to one."""
    mine = Q(owner=person)
    if may_see_requests(person):
        return Photo.objects.filter(mine | Q(request__isnull=False) | Q(reply__isnull=False))
    return Photo.objects.filter(mine)


def lock_photos(owner: User, photo_ids: Sequence[uuid.UUID], *, to: RefundRequest | Reply) -> None:
    """Gives unused photos of `owner` to a request or a reply, for good. Belongs into the caller's transaction.

    Raises Refusal photo_not_found when one is missing, someone else's or already used, so that all is undone.
    """
    target = {"request": to} if isinstance(to, RefundRequest) else {"reply": to}
    if photo_ids and unused_photos(owner).filter(pk__in=photo_ids).update(**target) != len(photo_ids):
        raise _photo_not_found()


def read_photo_ids(photo_ids: Iterable[uuid.UUID | str]) -> list[uuid.UUID]:
    """Ids as UUIDs, each once. Raises Refusal: photo_not_found for what is no id, invalid_input above five."""
    wanted: dict[uuid.UUID, None] = {}
    for given in photo_ids:
        parsed = read_uuid(given)
        if parsed is None:
            raise _photo_not_found()
        wanted[parsed] = None
    if len(wanted) > MAX_PHOTOS:
        raise Refusal("invalid_input", f"Send at most {MAX_PHOTOS} photos.", field="photos")
    return list(wanted)


def shown_name(given: str) -> str:
    """What the customer called the file, safe to show: no path, no control or direction characters, at most 80."""
    base = given.replace("\\", "/").rsplit("/", 1)[-1]
    normal = unicodedata.normalize("NFC", base)
    kept = "".join(character for character in normal if unicodedata.category(character) not in UNSHOWN_CATEGORIES)
    kept = kept.strip()
    return kept if len(kept) <= NAME_LENGTH else f"{kept[: NAME_LENGTH - 1]}…"


def _store(photo: Photo, jpeg: bytes) -> None:
    try:
        photo.file.save("photo.jpg", ContentFile(jpeg), save=False)
    except Exception as error:  # a full disk, or whatever the store says
        logger.warning("the store of the photos does not take one: %s", error)
        raise Refusal("try_again", NOT_STORED, field="photos") from error


def _photo_not_found() -> Refusal:
    sentence = "A photo was not found or is already used. Remove it and add it again."
    return Refusal("photo_not_found", sentence, field="photos")
