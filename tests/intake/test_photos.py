from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from intake import photos, picture, tasks
from intake.models import Photo
from intake.photos import keep_photo, read_photo
from intake.refusals import Refusal
from intake.tasks import purge_unused_photos
from tests.factories import RequestFactory
from tests.intake.conftest import picture_file

pytestmark = pytest.mark.django_db
NewPhoto = Callable[[User], Photo]


def path_of(photo: Photo) -> Path:
    return Path(settings.PHOTO_DIR) / str(photo.file.name)


def aged(photo: Photo, hours: float) -> Photo:
    Photo.objects.filter(pk=photo.pk).update(created_at=timezone.now() - timedelta(hours=hours))
    return photo


def test_a_photo_is_kept_unused_with_the_digest_of_what_is_stored(priya: User) -> None:
    photo = keep_photo(priya, picture_file())
    cleaned = picture.clean(picture_file().read())
    assert (photo.owner, photo.request, photo.given_name) == (priya, None, "ok_jpeg_baseline.jpg")
    assert (photo.digest, read_photo(photo)) == (cleaned.digest, cleaned.jpeg)


def test_unused_photos_have_a_limit(priya: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(photos, "MAX_UNUSED_PHOTOS", 1)
    keep_photo(priya, picture_file())
    with pytest.raises(Refusal) as raised:
        keep_photo(priya, picture_file())
    assert (raised.value.code, Photo.objects.count()) == ("too_many_requests", 1)


def test_a_photo_whose_row_fails_leaves_no_file(priya: User, monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(Path(settings.PHOTO_DIR).rglob("*.jpg"))
    monkeypatch.setattr(Photo, "save", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        keep_photo(priya, picture_file())
    assert set(Path(settings.PHOTO_DIR).rglob("*.jpg")) == before


def test_a_busy_machine_asks_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "WAIT_FOR_A_PLACE_SECONDS", 0.05)
    data = picture_file().read()
    with picture._place_to_decode(), picture._place_to_decode(), pytest.raises(Refusal) as raised:
        picture.clean(data)
    assert raised.value.code == "too_many_requests"
    assert picture.clean(data).width == 640


def test_a_jpeg_of_thousands_of_scans_is_refused_before_decoding() -> None:
    data = picture_file().read()
    with pytest.raises(Refusal) as raised:
        picture.clean(data[:-2] + b"\xff\xda\x00\x02" * 3000 + data[-2:])
    assert raised.value.code == "photo_rejected"


def test_a_film_in_a_heic_file_is_refused() -> None:
    with pytest.raises(Refusal, match="animated"):
        picture.clean(b"\x00\x00\x00\x18ftyphevc" + b"\x00" * 100)


def test_uploads_unused_for_a_day_are_purged_with_their_files(priya: User, new_photo: NewPhoto) -> None:
    old, young = aged(new_photo(priya), 25), aged(new_photo(priya), 23)
    assert purge_unused_photos() == 1
    assert list(Photo.objects.all()) == [young]
    assert (path_of(old).exists(), path_of(young).exists()) == (False, True)


def test_photos_of_a_request_are_never_purged(priya: User, new_photo: NewPhoto) -> None:
    used = aged(new_photo(priya), 1000)
    Photo.objects.filter(pk=used.pk).update(request=RequestFactory())
    assert purge_unused_photos() == 0
    assert path_of(used).exists()


def test_a_purge_is_bounded(priya: User, new_photo: NewPhoto, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "BATCH", 2)
    for _ in range(3):
        aged(new_photo(priya), 30)
    assert [purge_unused_photos(), purge_unused_photos(), purge_unused_photos()] == [2, 1, 0]


def test_a_file_that_is_gone_reads_as_missing(priya: User, new_photo: NewPhoto) -> None:
    photo = new_photo(priya)
    path_of(photo).unlink()
    with pytest.raises(FileNotFoundError):
        read_photo(photo)


def test_a_photo_too_large_to_decode_is_never_read(priya: User) -> None:
    upload = SimpleUploadedFile("large.jpg", b"")
    upload.size = 6 * 1024 * 1024
    with pytest.raises(Refusal, match="5 MB"):
        keep_photo(priya, upload)
