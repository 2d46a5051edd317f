"""The pictures of this project, and copies of them as people make them: cropped, turned, saved again."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache
from pathlib import Path

from PIL import Image, ImageEnhance, ImageOps

from intake.picture_looks import looks_of

ROOT = Path(__file__).resolve().parents[2]
PHOTOS = sorted((ROOT / "fixtures" / "photos").glob("*.jpg"))
SCENES = sorted((ROOT / "fixtures" / "scenarios" / "photos").glob("*.jpg"))
PRODUCTS = sorted((ROOT / "refunddesk" / "static" / "demo" / "products").glob("*.jpg"))
FIELD = ROOT / "tests" / "field" / "images"
Change = Callable[[Image.Image], Image.Image]


def as_jpeg(image: Image.Image, quality: int = 88) -> bytes:
    out = io.BytesIO()
    image.convert("RGB").save(out, "JPEG", quality=quality)
    return out.getvalue()


@cache
def opened(path: Path) -> Image.Image:
    with Image.open(path) as image:
        return image.convert("RGB")


@cache
def looks_at(path: Path) -> list[str]:
    return looks_of(as_jpeg(opened(path)))


def cropped(left: float, top: float, right: float, bottom: float) -> Change:
    """Cuts these shares off the four sides."""

    def cut(image: Image.Image) -> Image.Image:
        width, height = image.size
        right_edge, bottom_edge = round((1 - right) * width), round((1 - bottom) * height)
        return image.crop((round(left * width), round(top * height), right_edge, bottom_edge))

    return cut


def scaled(factor: float) -> Change:
    return lambda image: image.resize((round(image.width * factor), round(image.height * factor)))


def saved(quality: int) -> Change:
    return lambda image: Image.open(io.BytesIO(as_jpeg(image, quality)))


def lighter(factor: float) -> Change:
    return lambda image: ImageEnhance.Brightness(image).enhance(factor)


def paler(factor: float) -> Change:
    return lambda image: ImageEnhance.Contrast(image).enhance(factor)


def chain(*changes: Change) -> Change:
    def changed(image: Image.Image) -> Image.Image:
        for change in changes:
            image = change(image)
        return image

    return changed


CROPS = [
    (0.3, 0, 0, 0),
    (0, 0.3, 0, 0),
    (0, 0, 0.3, 0),
    (0, 0, 0, 0.3),
    (0.15, 0, 0.15, 0),
    (0, 0.15, 0, 0.15),
    (0.16, 0.16, 0, 0),
    (0, 0, 0.16, 0.16),
    (0.08, 0.08, 0.08, 0.08),
    (0.05, 0.13, 0.11, 0.02),
]
CHANGES: dict[str, list[Change]] = {
    "saved again, quality 40 to 95": [saved(quality) for quality in (40, 60, 80, 95)],
    "scaled, 30 % to 200 %": [scaled(factor) for factor in (0.3, 0.5, 1.4, 2.0)],
    "cropped to 70 % of the area": [cropped(*cut) for cut in CROPS],
    "15 % darker or lighter": [lighter(0.85), lighter(1.15)],
    "pale, a fifth and a tenth of the contrast": [paler(0.2), paler(0.1)],
    "mirrored": [ImageOps.mirror],
    "all at once": [
        chain(cropped(0.2, 0.05, 0, 0.04), scaled(0.4), lighter(0.9), saved(50)),
        chain(cropped(0, 0.1, 0.17, 0), ImageOps.mirror, scaled(0.6), saved(60)),
        chain(cropped(0.1, 0, 0.05, 0.1), paler(0.2), saved(70)),
    ],
}
WAYS: dict[str, Image.Transpose | None] = {
    "upright": None,
    "turned by 90": Image.Transpose.ROTATE_90,
    "turned by 180": Image.Transpose.ROTATE_180,
    "turned by 270": Image.Transpose.ROTATE_270,
    "mirrored": Image.Transpose.FLIP_LEFT_RIGHT,
    "mirrored and turned by 90": Image.Transpose.TRANSVERSE,
    "mirrored and turned by 180": Image.Transpose.FLIP_TOP_BOTTOM,
    "mirrored and turned by 270": Image.Transpose.TRANSPOSE,
}


def laid_as(way: str) -> Change:
    turn = WAYS[way]
    return lambda image: image if turn is None else image.transpose(turn)


def changes_of_one_laid(way: str) -> list[Change]:
    turn = laid_as(way)
    return [
        turn,
        chain(turn, saved(40)),
        chain(scaled(0.6), turn, saved(75)),
        chain(turn, scaled(1.4), saved(60)),
        *(chain(cropped(*cut), turn) for cut in CROPS),
        *(chain(turn, cropped(*cut), scaled(0.7), saved(60)) for cut in CROPS[::3]),
        chain(turn, paler(0.2), saved(80)),
        chain(cropped(0.2, 0.05, 0, 0.04), scaled(0.7), turn, lighter(0.9), saved(50)),
    ]
