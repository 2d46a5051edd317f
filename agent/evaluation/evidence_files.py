"""The pictures a scenario names: the demo's own, those drawn for scenarios, and stored copies of a case."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Mapping
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image

from intake.models import Photo
from intake.photos import keep_photo
from intake.picture_looks import looks_of

FIXTURES = Path(settings.BASE_DIR) / "fixtures"
FOLDERS = (FIXTURES / "photos", FIXTURES / "scenarios" / "photos")


class NoSuchPicture(Exception):
    """A scenario names a picture that lies in none of the folders."""


def find_picture(name: str) -> Path:
    """Raises NoSuchPicture."""
    if name == Path(name).name:
        for folder in FOLDERS:
            if (folder / name).is_file():
                return folder / name
    raise NoSuchPicture(f"There is no picture {name} in fixtures/photos or fixtures/scenarios/photos.")


def hand_in(owner: User, names: Iterable[str], stored_copies: Mapping[str, bytes]) -> list[Photo]:
    """Unused photos of `owner`, in order. `stored_copies` by name are kept as they are, all others cleaned as any
    upload. Raises NoSuchPicture, and Refusal for what no customer could send."""
    return [
        _keep_as_it_is(owner, name, stored_copies[name])
        if name in stored_copies
        else keep_photo(owner, SimpleUploadedFile(name, find_picture(name).read_bytes()))
        for name in names
    ]


def _keep_as_it_is(owner: User, name: str, jpeg: bytes) -> Photo:
    """Cleaned once before: cleaning it again would make another picture of it."""
    with Image.open(io.BytesIO(jpeg)) as image:
        width, height = image.size
    photo = Photo(
        owner=owner,
        digest=hashlib.sha256(jpeg).hexdigest(),
        looks=looks_of(jpeg),
        width=width,
        height=height,
        given_name=name[:80],
    )
    photo.file.save("photo.jpg", ContentFile(jpeg), save=False)
    photo.save()
    return photo
