"""Pictures kept before looks were get theirs bit by bit, and are then found like any other."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from intake import tasks
from intake.models import Photo, RefundRequest
from intake.photos import keep_photo
from intake.picture_looks import read_later
from intake.tasks import read_missing_looks
from refunddesk.schedule import timetable
from tests.factories import RequestFactory
from tests.intake.test_look_alikes import black, changed, demo, found, sent_with

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_photo_folder")]


def kept_before_looks(data: bytes, request: RefundRequest | None = None) -> Photo:
    photo = sent_with(request or RequestFactory(), data)
    Photo.objects.filter(pk=photo.pk).update(looks=[])
    return photo


def test_beat_reads_them() -> None:
    entry = timetable(15)["read-missing-looks"]
    assert (entry["task"], entry["schedule"]) == (read_missing_looks.name, 60.0)


def test_a_picture_from_before_looks_is_found_by_its_looks_afterwards() -> None:
    first, again = RequestFactory(), RequestFactory()
    old = kept_before_looks(demo("carafe-cracked"), first)
    sent_with(again, changed(demo("carafe-cracked")))
    assert found(again) == []
    before = timezone.now()
    assert (read_missing_looks(), read_missing_looks()) == (1, 0)
    assert found(again) == [(first.number, False)]
    now = Photo.objects.get(pk=old.pk)
    read_at = read_later(now.looks)
    assert now.looks[:2] == old.looks
    assert read_at is not None
    assert before <= read_at <= timezone.now()


def test_a_plain_one_is_read_once() -> None:
    kept_before_looks(black())
    assert (read_missing_looks(), read_missing_looks()) == (1, 0)


def test_looks_that_are_there_stay_as_they_are() -> None:
    photo = sent_with(RequestFactory(), demo("carafe-cracked"))
    assert read_missing_looks() == 0
    assert Photo.objects.get().looks == photo.looks


def test_neither_unused_uploads_nor_what_is_too_old_to_be_compared_is_read() -> None:
    keep_photo(RequestFactory().customer, SimpleUploadedFile("x.jpg", demo("carafe-cracked")))
    old = kept_before_looks(demo("mugs-cracked-rim"))
    Photo.objects.update(looks=[])
    Photo.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=731))
    assert read_missing_looks() == 0


def test_a_turn_is_bounded_in_pictures_and_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("carafe-cracked", "mugs-cracked-rim", "tamper-dented-base"):
        kept_before_looks(demo(name))
    monkeypatch.setattr(tasks, "LOOKS_SECONDS", -1.0)
    assert read_missing_looks() == 0
    monkeypatch.setattr(tasks, "LOOKS_SECONDS", 10.0)
    monkeypatch.setattr(tasks, "LOOKS_AT_ONCE", 2)
    assert [read_missing_looks(), read_missing_looks(), read_missing_looks()] == [2, 1, 0]


def test_files_that_cannot_be_read_keep_no_other_waiting(own_photo_folder: Path) -> None:
    gone, broken, good = (
        kept_before_looks(demo(name)) for name in ("carafe-cracked", "mugs-cracked-rim", "tamper-dented-base")
    )
    (own_photo_folder / str(gone.file.name)).unlink()
    (own_photo_folder / str(broken.file.name)).write_bytes(b"no picture")
    assert read_missing_looks() == 1
    assert [len(photo.looks) for photo in (Photo.objects.get(pk=each.pk) for each in (gone, broken, good))] == [0, 0, 3]
