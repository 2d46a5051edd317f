"""Files above the limit are refused without ever lying on disk, and the rest of the form is kept."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, RequestFactory

from intake.models import Photo, RefundRequest
from payments.models import OrderLine
from tests.intake.conftest import picture_file

MAX_BYTES = 5 * 1024 * 1024

pytestmark = pytest.mark.django_db


@pytest.fixture
def nothing_on_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where a temporary file would lie; `TemporaryUploadedFile` asks for this folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("django.core.files.uploadedfile.TemporaryUploadedFile.__init__", lambda *_, **__: 1 / 0)
    return tmp_path


def file_of(size: int, name: str = "large.jpg") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, b"x" * size, content_type="image/jpeg")


def files_of(fields: dict[str, Any]) -> list[Any]:
    return list(RequestFactory().post("/", fields).FILES.getlist("files"))


def test_a_file_at_the_limit_is_held_and_one_above_is_only_measured(nothing_on_disk: Path) -> None:
    at, above = files_of({"files": [file_of(MAX_BYTES), file_of(MAX_BYTES + 1)]})
    assert (at.size, len(at.read())) == (MAX_BYTES, MAX_BYTES)
    assert (above.size, len(above.read())) == (MAX_BYTES + 1, 0)
    assert list(nothing_on_disk.iterdir()) == []


def test_a_form_is_held_up_to_five_photos_at_their_limit(nothing_on_disk: Path) -> None:
    files = files_of({"files": [file_of(MAX_BYTES) for _ in range(5)] + [file_of(10)]})
    assert [len(each.read()) for each in files] == [MAX_BYTES] * 5 + [0]
    assert files[5].size == 10


def test_a_large_file_beside_a_good_one_keeps_text_and_good_photo(
    priyas_browser: Client, kettle: OrderLine, nothing_on_disk: Path
) -> None:
    form = {"reason": "damaged", "details": "The spout is bent.", "files": [file_of(MAX_BYTES + 1), picture_file()]}
    answer = priyas_browser.post("/orders/PH-20388/refund/KTL-09", form)
    page = answer.content.decode()
    assert answer.status_code == 400
    assert "large.jpg: The file is larger than 5 MB" in page
    assert "The spout is bent.</textarea>" in page
    assert f'name="photo" value="{Photo.objects.get().pk}"' in page
    assert not RefundRequest.objects.exists()


def test_a_large_file_by_the_api_is_refused_with_the_limit_named(priyas_browser: Client, nothing_on_disk: Path) -> None:
    answer = priyas_browser.post("/api/v1/photos", {"file": file_of(MAX_BYTES + 1)})
    assert (answer.status_code, answer.json()["error"]) == (400, "photo_rejected")
    assert "5 MB" in answer.json()["message"]
    assert not Photo.objects.exists()
