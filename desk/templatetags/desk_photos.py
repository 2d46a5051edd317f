"""Gives a template the notes of one picture."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from django import template

from desk.photo_notes import PhotoNotes
from intake.models import Photo

register = template.Library()


@register.filter
def of_photo(notes: Mapping[uuid.UUID, PhotoNotes], photo: Photo) -> PhotoNotes | None:
    return notes.get(photo.pk)
