"""The edges of what is taken: bombs, five MiB to the byte, bodies that lie, two files in one field."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from django.conf import settings
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from intake.models import Photo
from tests.field.test_images import IMAGES, as_upload, by_api, by_page, files_in_store, line, web

__all__ = ["line", "web"]  # fixtures

MAX_BYTES = 5 * 1024 * 1024

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", ["bomb_30000x30000_1bit.png", "bomb_10500x10500_1bit.png"])
def test_a_bomb_is_refused_within_a_second(web: Client, name: str) -> None:
    started = time.monotonic()
    assert by_api(web, as_upload(name)).status_code == 400
    assert time.monotonic() - started < 1


MEASURE = """
import resource, sys
from pathlib import Path
import django
django.setup()
from intake.picture import clean
from intake.refusals import Refusal
clean(Path(sys.argv[1]).read_bytes())
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    clean(Path(sys.argv[2]).read_bytes())
except Refusal as refusal:
    print(refusal.code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("name", ["bomb_30000x30000_1bit.png", "bomb_10500x10500_1bit.png"])
def test_a_bomb_leaves_the_memory_flat(name: str) -> None:
    control, bomb = IMAGES / "ok_jpeg_baseline.jpg", IMAGES / name
    command = [sys.executable, "-c", MEASURE, str(control), str(bomb)]
    environment = {"DJANGO_SETTINGS_MODULE": "tests.settings", "PYTHONPATH": str(settings.BASE_DIR)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=True)
    code, grown_kib = done.stdout.split()
    assert code == "photo_rejected"
    assert int(grown_kib) < 100 * 1024


def padded_jpeg(size: int) -> bytes:
    """The control picture with comment segments behind its start marker until it has `size` bytes."""
    original = (IMAGES / "ok_jpeg_baseline.jpg").read_bytes()
    missing, segments = size - len(original), b""
    while missing > 0:
        length = missing if missing <= 65_537 else min(65_537, missing - 4)
        segments += b"\xff\xfe" + (length - 2).to_bytes(2) + b"x" * (length - 4)
        missing -= length
    return original[:2] + segments + original[2:]


def test_exactly_five_mib_is_taken(web: Client) -> None:
    data = padded_jpeg(MAX_BYTES)
    assert len(data) == MAX_BYTES
    assert by_api(web, as_upload("exactly.jpg", data)).status_code == 201


def test_one_byte_more_is_refused_with_the_limit_named_on_both_doors(web: Client) -> None:
    data = padded_jpeg(MAX_BYTES + 1)
    answer = by_api(web, as_upload("over.jpg", data))
    page = by_page(web, as_upload("over.jpg", data))
    assert (answer.status_code, answer.json()["error"]) == (400, "photo_rejected")
    assert "5 MB" in answer.json()["message"]
    assert page.status_code == 400
    assert answer.json()["message"] in page.content.decode()
    assert '<link rel="stylesheet"' in page.content.decode()
    assert not Photo.objects.exists()


def test_a_body_that_is_shorter_than_it_is_leaves_nothing(web: Client) -> None:
    body = encode_multipart(BOUNDARY, {"file": as_upload("ok_jpeg_baseline.jpg")})
    answer = web.generic(
        "POST", "/api/v1/photos", body, content_type=MULTIPART_CONTENT, CONTENT_LENGTH=str(len(body) // 2)
    )
    assert answer.status_code == 400
    assert not Photo.objects.exists()


def test_two_files_in_one_field_are_refused_and_leave_no_orphan(web: Client) -> None:
    before = files_in_store()
    two = [as_upload("ok_jpeg_baseline.jpg"), as_upload("ok_webp_still.webp")]
    answer = web.post("/api/v1/photos", {"file": two})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_input")
    assert not Photo.objects.exists()
    assert files_in_store() == before
