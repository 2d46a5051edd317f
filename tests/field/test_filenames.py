"""What a customer calls the file decides nothing and harms nothing."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from intake.models import Photo
from intake.photos import NAME_LENGTH, shown_name
from tests.factories import LineFactory, OrderFactory, PolicyFactory

HERE = Path(__file__).parent
NAMES: list[str] = [case["name"] for case in json.loads((HERE / "scenarios" / "filenames.json").read_text())["cases"]]
PICTURE = (HERE / "images" / "ok_jpeg_baseline.jpg").read_bytes()

pytestmark = pytest.mark.django_db


@pytest.fixture
def web(client: Client) -> Client:
    PolicyFactory()
    line = LineFactory(order=OrderFactory(number="PH-20388"), sku="KTL-09")
    client.force_login(line.order.customer)
    return client


def multipart(field: str, name: str, **others: str) -> dict[str, Any]:
    """A body as browsers write it: quotes and line ends of the name are percent-encoded."""
    written = name.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")
    parts = [
        f'--cut\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
        for key, value in others.items()
    ]
    head = f'--cut\r\nContent-Disposition: form-data; name="{field}"; filename="{written}"\r\n'.encode()
    body = b"".join(parts) + head + b"Content-Type: image/jpeg\r\n\r\n" + PICTURE + b"\r\n--cut--\r\n"
    return {"data": body, "content_type": "multipart/form-data; boundary=cut"}


def is_shown_safely(name: str) -> bool:
    odd = [c for c in name if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}]
    return not odd and len(name) <= NAME_LENGTH and "/" not in name and "\\" not in name


@pytest.mark.parametrize("name", NAMES)
def test_the_api_stores_it_under_a_random_name(web: Client, name: str) -> None:
    answer = web.post("/api/v1/photos", **multipart("file", name))
    photo = Photo.objects.get()
    assert answer.status_code == 201
    assert photo.file.name is not None
    assert photo.file.name == f"{photo.file.name[:32]}.jpg"
    assert int(photo.file.name[:32], 16)
    assert is_shown_safely(photo.given_name)


@pytest.mark.parametrize("name", NAMES)
def test_the_page_shows_the_name_escaped_and_shortened(web: Client, name: str) -> None:
    address = reverse("refund-new", args=["PH-20388", "KTL-09"])
    answer = web.post(address, **multipart("files", name, reason="damaged"))  # no details: shown again
    photo, page = Photo.objects.get(), answer.content.decode()
    assert answer.status_code == 400
    assert is_shown_safely(photo.given_name)
    assert f'<span class="photo-name">{escape(photo.given_name or "Photo")}</span>' in page
    assert "<img src=x>" not in page
    assert "<script>" not in page
    assert "\u202e" not in page


@pytest.mark.parametrize("name", NAMES)
def test_the_name_alone_is_made_safe(name: str) -> None:
    assert is_shown_safely(shown_name(name))


def test_a_harmless_name_is_kept_as_it_is() -> None:
    assert [shown_name(name) for name in ("photo.jpg", "图片.png", "photo.JPEG")] == [
        "photo.jpg",
        "图片.png",
        "photo.JPEG",
    ]
