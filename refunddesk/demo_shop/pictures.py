"""The demo's photos as a customer's upload would be stored: cleaned, with the digest of what is kept."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.core.files.base import ContentFile

from intake.models import Photo
from intake.picture import CleanPicture, clean

PHOTO_FOLDER = Path(settings.BASE_DIR) / "fixtures" / "photos"


def photo_file(name: str) -> Path:
    """Where the drawn photo `name` (without extension) lies."""
    return PHOTO_FOLDER / f"{name}.jpg"


def clean_pictures(names: set[str]) -> dict[str, CleanPicture]:
    """The photos by name; takes a moment for each, so it belongs before a transaction."""
    return {name: clean(photo_file(name).read_bytes()) for name in sorted(names)}


def store(photo: Photo, picture: CleanPicture) -> None:
    """Puts the picture into the private storage and fills the row's fields; the row itself is not saved."""
    photo.digest, photo.width, photo.height = picture.digest, picture.width, picture.height
    photo.looks, photo.camera = picture.looks, picture.camera
    photo.file.save("", ContentFile(picture.jpeg), save=False)
