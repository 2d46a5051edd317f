"""Every picture of the field set through both doors: the HTTP API and the form of the page."""

from __future__ import annotations

import io
import json
from array import array
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from PIL import Image, ImageChops, ImageStat

from intake.models import Photo, RefundRequest
from intake.photos import read_photo
from intake.picture import MAX_SIDE
from payments.models import OrderLine
from tests.factories import CustomerFactory, LineFactory, OrderFactory, PolicyFactory, StaffFactory

IMAGES = Path(__file__).parent / "images"
CASES: list[dict[str, Any]] = json.loads((IMAGES / "expectations.json").read_text())["files"]
BY_NAME = {case["file"]: case for case in CASES}
TAKEN = [case["file"] for case in CASES if case["expected"].startswith("accept")]
REFUSED = [case["file"] for case in CASES if case["expected"] == "reject"]
WHAT_IS_TAKEN = "JPEG, PNG, WebP or HEIC"

pytestmark = pytest.mark.django_db


@pytest.fixture
def line() -> OrderLine:
    PolicyFactory()
    return LineFactory(order=OrderFactory(number="PH-20388"), sku="KTL-09")


@pytest.fixture
def web(client: Client, line: OrderLine) -> Client:
    client.force_login(line.order.customer)
    return client


def as_upload(name: str, data: bytes | None = None) -> SimpleUploadedFile:
    content = (IMAGES / name).read_bytes() if data is None else data
    sent_as = BY_NAME[name]["content_type_sent"] if name in BY_NAME else "image/jpeg"
    return SimpleUploadedFile(name, content, content_type=sent_as)


def by_api(web: Client, upload: SimpleUploadedFile) -> Any:
    return web.post("/api/v1/photos", {"file": upload})


def by_page(web: Client, upload: SimpleUploadedFile) -> Any:
    address = reverse("refund-new", args=["PH-20388", "KTL-09"])
    form = {"reason": "damaged", "details": "The spout is bent & leaks.", "files": upload}
    return web.post(address, form)


def stored(photo: Photo) -> Image.Image:
    return Image.open(io.BytesIO(read_photo(photo)))


def kept(web: Client, name: str) -> Photo:
    answer = by_api(web, as_upload(name))
    assert answer.status_code == 201, answer.content
    return Photo.objects.get(pk=answer.json()["id"])


def files_in_store() -> set[Path]:
    return set(Path(settings.PHOTO_DIR).rglob("*.jpg"))


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_taken_is_stored_as_a_plain_upright_jpeg(web: Client, name: str) -> None:
    photo = kept(web, name)
    with stored(photo) as picture:
        picture.load()
        assert (picture.format, picture.mode, picture.size) == ("JPEG", "RGB", (photo.width, photo.height))
        assert max(picture.size) <= MAX_SIDE
        assert not picture.getexif()
        assert set(picture.info) <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"}


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_taken_makes_a_request_through_the_page(web: Client, name: str) -> None:
    answer = by_page(web, as_upload(name))
    request = RefundRequest.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, reverse("request", args=[request.uuid]))
    assert request.photos.count() == 1


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_gets_one_sentence_and_leaves_nothing(web: Client, name: str) -> None:
    before = files_in_store()
    answer = by_api(web, as_upload(name))
    body = answer.json()
    assert (answer.status_code, body["error"]) == (400, "photo_rejected")
    assert body["message"].endswith(".")
    assert body["message"].count(". ") == 0
    assert not Photo.objects.exists()
    assert files_in_store() == before


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_on_the_page_keeps_the_typed_text(web: Client, name: str) -> None:
    answer = by_page(web, as_upload(name))
    sentence = by_api(web, as_upload(name)).json()["message"]
    assert answer.status_code == 400
    assert sentence in answer.content.decode()
    assert "The spout is bent &amp; leaks.</textarea>" in answer.content.decode()
    assert not RefundRequest.objects.exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gif_named_jpg.jpg", "GIF"),
        ("pdf_named_jpg.jpg", "PDF"),
        ("svg_named_png.png", "XML"),
        ("zero_byte.jpg", "empty"),
        ("only_magic.jpg", "no picture"),
        ("animated_3_frames.webp", "animated"),
        ("truncated_half.jpg", "cut off"),
        ("png_bad_crc.png", "damaged"),
        ("bomb_30000x30000_1bit.png", "too large"),
        ("bomb_10500x10500_1bit.png", "too large"),
    ],
)
def test_the_sentence_says_what_is_wrong(web: Client, name: str, words: str) -> None:
    message = by_api(web, as_upload(name)).json()["message"]
    assert words in message
    assert WHAT_IS_TAKEN in message or "smaller copy" in message


@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        (
            "exif_gps_and_owner.jpg",
            [b"SAMPLE OWNER NAME", b"SERIAL-SAMPLE-0001", b"SAMPLE-PRIVATE-CAPTION", b"SAMPLE-USER-COMMENT", b"Exif"],
        ),
        ("exif_thumbnail_differs.jpg", [b"Exif"]),
        ("motion_photo_tail.jpg", [b"SAMPLE-VIDEO-TAIL"]),
        ("polyglot_jpeg_html.jpg", [b"__sampleXss", b"<script"]),
    ],
)
def test_nothing_but_pixels_is_kept_and_served(web: Client, name: str, hidden: list[bytes]) -> None:
    photo = kept(web, name)
    served = web.get(reverse("photo", args=[photo.pk]))
    assert any(word in (IMAGES / name).read_bytes() for word in hidden)
    for word in hidden:
        assert word not in read_photo(photo)
        assert word not in served.content
    assert (served["Content-Type"], served["X-Content-Type-Options"]) == ("image/jpeg", "nosniff")


def test_a_picture_held_sideways_is_turned_upright(web: Client) -> None:
    with stored(kept(web, "exif_orientation_6.jpg")) as picture:
        assert picture.size == (640, 480)
        width, height = picture.size
        top_right = picture.crop((width // 2, 0, width, height // 2))
        bottom_left = picture.crop((0, height // 2, width // 2, height))
        assert redness(top_right) > 3 * redness(bottom_left)


def redness(picture: Image.Image) -> int:
    """Pixels that are clearly red, and one more so that a share can be taken of it."""
    red, green, blue = picture.convert("RGB").split()
    is_red = red.point(lambda value: 255 * (value > 150))
    for other in (green, blue):
        is_red = ImageChops.multiply(is_red, other.point(lambda value: 255 * (value < 90)))
    return 1 + is_red.histogram()[255]


def test_only_the_first_picture_of_an_mpo_is_kept(web: Client) -> None:
    photo = kept(web, "mpo_two_frames.jpg")
    with Image.open(IMAGES / "mpo_two_frames.jpg") as original, stored(photo) as copy:
        first = original.convert("RGB")
        difference = ImageStat.Stat(Image.blend(first, copy.convert("RGB"), 0.5)).mean
        assert difference == pytest.approx(ImageStat.Stat(first).mean, abs=3)
    assert read_photo(photo).count(b"\xff\xd8\xff") == 1


def test_transparency_becomes_a_light_ground(web: Client) -> None:
    with stored(kept(web, "png_rgba_transparent.png")) as picture:
        assert min(picture.getpixel((2, 2))) > 200  # type: ignore[arg-type]


def test_a_print_shop_picture_keeps_its_colours(web: Client) -> None:
    with Image.open(IMAGES / "cmyk.jpg") as original, stored(kept(web, "cmyk.jpg")) as copy:
        wanted = ImageStat.Stat(original.convert("RGB")).mean
        assert ImageStat.Stat(copy).mean == pytest.approx(wanted, abs=4)


def test_sixteen_bits_are_scaled_and_not_clipped(web: Client) -> None:
    with Image.open(IMAGES / "png_16bit_gray.png") as original:
        values = array("H", original.tobytes())
    wanted = sum(values) / len(values) / 257
    with stored(kept(web, "png_16bit_gray.png")) as copy:
        assert ImageStat.Stat(copy.convert("L")).mean[0] == pytest.approx(wanted, rel=0.1)


def test_the_same_picture_is_stored_with_the_same_digest(web: Client) -> None:
    first, again = kept(web, "reused_photo_a.jpg"), kept(web, "reused_photo_a.jpg")
    resaved = kept(web, "reused_photo_b_resaved.jpg")
    assert first.digest == again.digest
    assert first.digest != resaved.digest
    assert first.file.name != again.file.name


def test_a_photo_is_served_to_its_owner_and_staff_and_to_nobody_else(web: Client) -> None:
    photo = kept(web, "ok_jpeg_baseline.jpg")
    address = reverse("photo", args=[photo.pk])
    staff, stock_keeper, other = StaffFactory(), StaffFactory(permissions=[]), CustomerFactory()
    assert web.get(address).status_code == 200
    assert status_for(staff, address) == 404, "what is not submitted yet is the customer's own"
    by_page(web, as_upload("ok_jpeg_baseline.jpg"))
    submitted = reverse("photo", args=[Photo.objects.get(request__isnull=False).pk])
    assert status_for(staff, submitted) == 200
    assert status_for(stock_keeper, submitted) == 404
    assert status_for(other, submitted) == 404


def status_for(user: User, address: str) -> int:
    web = Client()
    web.force_login(user)
    return web.get(address).status_code


def test_a_submitted_photo_is_locked(web: Client, line: OrderLine) -> None:
    photo = kept(web, "ok_jpeg_baseline.jpg")
    by_page(web, as_upload("ok_jpeg_baseline.jpg"))
    used = Photo.objects.get(request__isnull=False)
    other = LineFactory(order=line.order, sku="GRD-C40")
    address = reverse("refund-new", args=[line.order.number, other.sku])
    answer = web.post(address, {"reason": "damaged", "details": "Broken.", "photo": [used.pk, photo.pk]})
    assert answer.status_code == 400
    assert RefundRequest.objects.count() == 1
