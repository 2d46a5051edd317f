"""Makes one clean JPEG of whatever picture a customer sends: judged by content, bounded, upright, without metadata."""

from __future__ import annotations

import hashlib
import io
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pi_heif
from django.conf import settings
from PIL import Image, UnidentifiedImageError

from intake.camera_facts import read_camera
from intake.picture_looks import looks_of
from intake.refusals import Refusal

FORMATS = ("JPEG", "PNG", "WEBP", "HEIF")  # MPO is what the JPEG reader calls a JPEG with further pictures inside
SEVERAL_PICTURES_ALLOWED = frozenset({"MPO", "HEIF"})
MAX_PIXELS = 50_000_000
MAX_SIDE = 2048
JPEG_QUALITY = 88
LIGHT_GROUND = (255, 255, 255)
DECODES_AT_A_TIME = 2
WAIT_FOR_A_PLACE_SECONDS = 20
STRIP_ROWS = 256
WHAT_IS_TAKEN = "send a JPEG, PNG, WebP or HEIC picture of at most 5 MB."
MAX_JPEG_SCANS = 200  # cameras write about ten; thousands would each cost a pass over the whole picture

ORIENTATION_TAG = 0x0112
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
OTHER_FILES = (
    (b"GIF8", "a GIF"),
    (b"%PDF", "a PDF document"),
    (b"<?xml", "a drawing or web page (XML)"),
    (b"<svg", "a drawing (SVG)"),
    (b"II*\x00", "a TIFF picture"),
    (b"MM\x00*", "a TIFF picture"),
    (b"BM", "a BMP picture"),
    (b"PK\x03\x04", "a ZIP or office file"),
)
CONTAINER_BRANDS = {b"avif": "an AVIF picture", b"avis": "an AVIF film", b"qt  ": "a film", b"isom": "a film"}
HEIC_FILM_BRANDS = frozenset({b"hevc", b"hevx", b"msf1"})

pi_heif.register_heif_opener(thumbnails=False, depth_images=False, aux_images=False, decode_threads=1)
_places = threading.BoundedSemaphore(DECODES_AT_A_TIME)


@dataclass(frozen=True)
class CleanPicture:
    """What is stored: JPEG bytes, size in pixels (at most 2048 a side), SHA-256 of the bytes in hex; what the stored
    copy looks like (`picture_looks`), and what the camera wrote into the original (`camera_facts`)."""

    jpeg: bytes
    width: int
    height: int
    digest: str
    looks: list[str] = field(default_factory=list)
    camera: dict[str, str] = field(default_factory=dict)


def clean(data: bytes) -> CleanPicture:
    """The first picture in `data`, re-encoded. Raises Refusal photo_rejected with a sentence for the customer,
    too_many_requests when the machine is busy with other pictures for too long."""
    check_size(len(data))
    image = _opened(data)
    with image, _place_to_decode():
        flat = _decoded(image)
        camera = read_camera(image)
    jpeg = _encoded(flat)
    digest = hashlib.sha256(jpeg).hexdigest()
    return CleanPicture(jpeg, flat.width, flat.height, digest, looks_of(jpeg), camera)


def check_size(size: int) -> None:
    """Raises Refusal photo_rejected for an empty file or one above the limit, before anything of it is read."""
    if size == 0:
        raise _rejected(f"The file is empty; {WHAT_IS_TAKEN}")
    if size > settings.PHOTO_MAX_BYTES:
        raise _rejected(f"The file is larger than 5 MB; {WHAT_IS_TAKEN}")


def _opened(data: bytes) -> Image.Image:
    """The picture with only its header read; whatever is not taken is refused here, before decoding."""
    if data[4:8] == b"ftyp" and data[8:12] in HEIC_FILM_BRANDS:
        raise _animated()
    try:
        image = Image.open(io.BytesIO(data), formats=FORMATS)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise _too_many_pixels() from None
    except UnidentifiedImageError:
        raise _rejected(f"The file is {_guess(data)}; {WHAT_IS_TAKEN}") from None
    except Exception:  # a reader given a crafted file may raise anything
        raise _damaged() from None
    if image.width * image.height > MAX_PIXELS:
        raise _too_many_pixels()
    if image.format in {"JPEG", "MPO"} and data.count(b"\xff\xda") > MAX_JPEG_SCANS:
        raise _damaged()
    if getattr(image, "is_animated", False) and image.format not in SEVERAL_PICTURES_ALLOWED:
        raise _animated()
    return image


def _decoded(image: Image.Image) -> Image.Image:
    try:
        image.draft(None, (MAX_SIDE, MAX_SIDE))
        image.load()
        turn = TURNS.get(_orientation(image))
        flat = _flat(image)
    except Exception:  # a decoder given a damaged file may raise anything
        raise _damaged() from None
    return flat.transpose(turn) if turn is not None else flat


def _flat(image: Image.Image) -> Image.Image:
    """An RGB copy of at most MAX_SIDE, made strip by strip: no second full-size copy is ever held."""
    factor = max(1, max(image.size) // MAX_SIDE)
    flat = Image.new("RGB", (math.ceil(image.width / factor), math.ceil(image.height / factor)))
    for top in range(0, image.height, STRIP_ROWS * factor):
        bottom = min(top + STRIP_ROWS * factor, image.height)
        strip = _as_rgb(image.crop((0, top, image.width, bottom)))
        flat.paste(strip.reduce(factor), (0, top // factor))
    scale = min(1.0, MAX_SIDE / max(image.size))
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return flat if size == flat.size else flat.resize(size, Image.Resampling.LANCZOS)


def _as_rgb(strip: Image.Image) -> Image.Image:
    if strip.mode.startswith("I"):  # 16 bits a pixel: scaled down, where a plain conversion would clip to white
        return strip.convert("I").point(lambda value: value * (1 / 257)).convert("L").convert("RGB")
    if not strip.has_transparency_data:
        return strip.convert("RGB")
    layers = strip.convert("RGBA")
    ground = Image.new("RGB", strip.size, LIGHT_GROUND)
    ground.paste(layers, mask=layers.getchannel("A"))
    return ground


def _orientation(image: Image.Image) -> int:
    """How the camera was held, 1 to 8; broken metadata says nothing and costs nothing."""
    try:
        return int(image.getexif().get(ORIENTATION_TAG, 1))
    except Exception:  # the metadata is the customer's and may hold anything
        return 1


def _encoded(flat: Image.Image) -> bytes:
    flat.info = {}  # the encoder would copy a comment from here
    out = io.BytesIO()
    flat.save(out, "JPEG", quality=JPEG_QUALITY)
    return out.getvalue()


@contextmanager
def _place_to_decode() -> Iterator[None]:
    if not _places.acquire(timeout=WAIT_FOR_A_PLACE_SECONDS):
        sentence = "Many photos are coming in at this moment. Wait a little and send it again."
        raise Refusal("too_many_requests", sentence, field="photos")
    try:
        yield
    finally:
        _places.release()


def _guess(data: bytes) -> str:
    start = data[:64].lstrip()
    if data[4:8] == b"ftyp":
        return CONTAINER_BRANDS.get(data[8:12], "a film or another file that is no picture we can read")
    return next((name for magic, name in OTHER_FILES if start.startswith(magic)), "no picture we can read")


def _rejected(sentence: str) -> Refusal:
    return Refusal("photo_rejected", sentence, field="photos")


def _too_many_pixels() -> Refusal:
    return _rejected("The picture is too large, it has more than 50 megapixels; send a smaller copy of it.")


def _animated() -> Refusal:
    return _rejected(f"The picture is animated, and each viewer could see another frame; {WHAT_IS_TAKEN}")


def _damaged() -> Refusal:
    return _rejected(f"The picture is damaged or was cut off on its way; {WHAT_IS_TAKEN}")
