"""What staff read beside a picture: its size, what its camera wrote, and the other requests it was sent with."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from intake.camera_facts import CameraWord, camera_word, moments_of
from intake.look_alikes import Reuse, reuses
from intake.models import Photo, Question, RefundRequest
from intake.picture_looks import is_plain


@dataclass(frozen=True)
class PhotoNotes:
    """`plain`: it shows too little to be compared with others by its looks; `compared`: its looks are known."""

    photo: Photo
    word: CameraWord | None
    device: str
    reuses: list[Reuse]
    plain: bool
    compared: bool


def photo_notes(
    request: RefundRequest, photos: Sequence[Photo], questions: Sequence[Question]
) -> dict[uuid.UUID, PhotoNotes]:
    """Of the request's pictures and those of its answers, by key. `questions` with their replies and pictures."""
    answers = [question.reply for question in questions if hasattr(question, "reply")]
    sent = dict.fromkeys(photos, request.created_at)
    sent |= {photo: reply.created_at for reply in answers for photo in reply.photos.all()}
    used = reuses(list(sent), besides=request.pk)
    return {
        photo.pk: PhotoNotes(
            photo=photo,
            word=camera_word(photo.camera, moments_of(request.line, sent_at), settings.SHOP_TIME_ZONE),
            device=str(photo.camera.get("device", "")),
            reuses=used.get(photo.pk, []),
            plain=is_plain(photo.looks),
            compared=bool(photo.looks),
        )
        for photo, sent_at in sent.items()
    }
