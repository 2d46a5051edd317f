"""Measures how surely a picture is known again, and that no other is taken for it. Run with -s for the table."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageEnhance, ImageOps

from intake.picture import clean
from intake.picture_looks import (
    LAYS,
    LAYS_OF_A_TURN,
    ROUNDED_BITS,
    comparable_hashes,
    hashes_laid,
    hashes_of,
    is_plain,
    laid,
    looks_fit,
    looks_of,
    looks_read_later,
    read_hashes,
    read_later,
    read_whole,
    windows,
)
from intake.same_picture import LIKENESS, LIKENESS_TURNED, candidates, likeness, same

ROOT = Path(__file__).resolve().parents[2]
PHOTOS = sorted((ROOT / "fixtures" / "photos").glob("*.jpg"))
SCENES = sorted((ROOT / "fixtures" / "scenarios" / "photos").glob("*.jpg"))
PRODUCTS = sorted((ROOT / "refunddesk" / "static" / "demo" / "products").glob("*.jpg"))
FIELD = ROOT / "tests" / "field" / "images"
FIELD_PICTURES = {
    "reused_photo_a.jpg",
    "photo_fake_staff_chat.png",
    "photo_text_benign_carrier_sticker.jpg",
    "photo_text_injection_note.jpg",
    "png_rgba_transparent.png",
}
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


def best_likeness(new: list[str], stored: list[str], lays: Sequence[int] = range(LAYS)) -> float:
    """0.0 when the hashes do not even make it a candidate."""
    whole, kept = read_whole(new[0]), read_whole(stored[0])
    found = candidates(whole, np.array([read_hashes(stored[1])]), turned=True)
    return max((likeness(whole, kept, candidate) for candidate in found if candidate.lay in lays), default=0.0)


def known(new: list[str], stored: list[str], *, turned: bool = True) -> bool:
    whole, kept = read_whole(new[0]), read_whole(stored[0])
    found = candidates(whole, np.array([read_hashes(stored[1])]), turned=turned)
    return any(same(whole, kept, candidate) for candidate in found)


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
TURNED = [way for way in WAYS if "turned" in way]


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


@pytest.mark.parametrize("way", WAYS)
def test_a_picture_is_known_again_however_it_is_laid(way: str) -> None:
    """Also cropped, scaled and saved again, whichever of the two was sent first."""
    missed: list[tuple[str, int]] = []
    for path in PHOTOS:
        smaller = scaled(0.25)(opened(path))
        for number, change in enumerate(changes_of_one_laid(way)):
            copy = looks_of(as_jpeg(change(smaller)))
            if not (known(copy, looks_at(path)) and known(looks_at(path), copy)):
                missed.append((path.name, number))
    assert missed == []


@pytest.mark.parametrize("way", WAYS)
def test_only_what_lies_upright_is_compared_when_turns_are_not_asked_for(way: str) -> None:
    copies = {path: looks_of(as_jpeg(laid_as(way)(opened(path)))) for path in PHOTOS}
    assert {known(copy, looks_at(path), turned=False) for path, copy in copies.items()} == {way not in TURNED}


def test_the_hashes_of_every_lay_are_those_of_the_picture_laid_so() -> None:
    for path in PHOTOS + PRODUCTS:
        whole = read_whole(looks_at(path)[0])
        for lay, hashes in enumerate(hashes_laid(whole, LAYS)):
            assert int(np.bitwise_count(hashes ^ hashes_of(laid(whole, lay))).max()) <= ROUNDED_BITS


def test_the_first_lay_is_the_picture_itself_and_the_second_its_mirror() -> None:
    whole = read_whole(looks_at(PHOTOS[0])[0])
    assert np.array_equal(laid(whole, 0), whole)
    assert np.array_equal(laid(whole, 1), whole[:, ::-1])
    assert len({laid(whole, lay).tobytes() for lay in range(LAYS)}) == LAYS == len(WAYS)


@pytest.mark.parametrize("kind", CHANGES)
def test_a_picture_that_was_changed_a_little_is_known_again(kind: str) -> None:
    found = {
        (path.name, number): best_likeness(looks_of(as_jpeg(change(opened(path)))), looks_at(path))
        for path in PHOTOS
        for number, change in enumerate(CHANGES[kind])
    }
    print(f"\n{kind}: {len(found)} copies, least likeness {min(found.values()):.3f}, {LIKENESS} is enough")
    assert {which: value for which, value in found.items() if value < LIKENESS} == {}


@pytest.mark.parametrize("kind", ["cropped to 70 % of the area", "mirrored", "all at once"])
def test_the_uncut_picture_is_known_when_a_changed_one_came_first(kind: str) -> None:
    found = {
        path.name: best_likeness(looks_at(path), looks_of(as_jpeg(change(opened(path)))))
        for path in PHOTOS
        for change in CHANGES[kind][:3]
    }
    assert min(found.values()) >= LIKENESS


def test_no_two_demo_pictures_are_taken_for_each_other() -> None:
    found = {
        (a.name, b.name): best_likeness(looks_at(a), looks_at(b))
        for a, b in itertools.permutations(PHOTOS + PRODUCTS, 2)
    }
    nearest = max(found, key=lambda pair: found[pair])
    print(f"\ndifferent: {len(found)} pairs, greatest likeness {found[nearest]:.3f}, of {nearest[0]} and {nearest[1]}")
    assert found[nearest] < LIKENESS


def unlike_pictures() -> dict[str, list[str]]:
    """All there are that are not too plain, also some that were drawn, cut or blurred from another, but never turned;
    of those of the field set that show one thing in many forms, one."""
    field = {path.name: clean(path.read_bytes()).looks for path in FIELD.glob("*") if path.name in FIELD_PICTURES}
    return {path.name: looks_at(path) for path in PHOTOS + SCENES + PRODUCTS if len(looks_at(path)) == 2} | field


def test_no_picture_is_taken_for_another_or_for_itself_when_one_is_turned() -> None:
    turned = range(LAYS_OF_A_TURN, LAYS)
    found = {
        (a, b): best_likeness(of_a, of_b, turned)
        for (a, of_a), (b, of_b) in itertools.product(unlike_pictures().items(), repeat=2)
    }
    nearest = max(found, key=lambda pair: found[pair])
    print(f"\nturned: {len(found)} pairs, greatest likeness {found[nearest]:.3f}, of {nearest[0]} and {nearest[1]}")
    assert found[nearest] < LIKENESS < LIKENESS_TURNED


def crops_of_others() -> Iterator[tuple[Path, Path, float]]:
    cut = {path: looks_of(as_jpeg(cropped(0.1, 0.1, 0.1, 0)(opened(path)))) for path in PHOTOS[::2] + PRODUCTS[::2]}
    for path, other in itertools.permutations(cut, 2):
        yield path, other, best_likeness(cut[path], looks_at(other))


def test_a_crop_of_one_picture_is_never_taken_for_another() -> None:
    assert [(a.name, b.name, value) for a, b, value in crops_of_others() if value >= LIKENESS] == []


def test_the_pair_of_the_field_set_is_one_picture() -> None:
    first, again = (clean((FIELD / name).read_bytes()) for name in ("reused_photo_a.jpg", "reused_photo_b_resaved.jpg"))
    assert first.digest != again.digest
    value = best_likeness(again.looks, first.looks)
    print(f"\nreused_photo_a and _b_resaved: {value:.3f}")
    assert value >= LIKENESS
    other = clean((FIELD / "photo_text_injection_note.jpg").read_bytes())
    assert best_likeness(other.looks, first.looks) < LIKENESS


def plain_pictures() -> dict[str, Image.Image]:
    shaded = Image.linear_gradient("L").resize((640, 480)).point(lambda value: 90 + value // 4)
    noisy = Image.effect_noise((640, 480), 40)
    return {
        "black": Image.new("RGB", (640, 480)),
        "one colour": Image.new("RGB", (640, 480), (120, 160, 90)),
        "a wall with a shade": shaded,
        "a covered lens": noisy.point(lambda value: value // 8),
    }


@pytest.mark.parametrize("name", plain_pictures())
def test_a_picture_that_shows_nothing_is_compared_with_none(name: str) -> None:
    assert is_plain(looks_of(as_jpeg(plain_pictures()[name])))


@pytest.mark.parametrize("name", ["all_black.jpg", "one_pixel.png", "strip_30000x1.png"])
def test_the_useless_pictures_of_the_field_set_are_plain(name: str) -> None:
    assert is_plain(clean((FIELD / name).read_bytes()).looks)


def test_a_small_mark_on_an_empty_ground_is_enough_to_be_compared() -> None:
    image = Image.new("RGB", (640, 480), (200, 200, 200))
    ImageDraw.Draw(image).rectangle((100, 100, 220, 260), fill=(40, 40, 40))
    assert not is_plain(looks_of(as_jpeg(image)))


def white_mug() -> Image.Image:
    """A cracked white mug on a white table, with the noise of a phone."""
    image = Image.new("RGB", (640, 480), (236, 235, 232))
    draw = ImageDraw.Draw(image)
    draw.rounded_rectangle((230, 130, 410, 380), 30, fill=(228, 227, 224))
    draw.line((300, 140, 320, 220, 296, 300), fill=(205, 200, 196), width=4)
    return Image.blend(image, Image.effect_noise((640, 480), 60).convert("RGB"), 0.06)


def test_a_white_mug_on_a_white_table_is_compared() -> None:
    assert not is_plain(looks_of(as_jpeg(white_mug())))


def test_looks_once_called_plain_by_a_stricter_measure_are_compared_by_their_grey_copy() -> None:
    whole, hashes = looks_of(as_jpeg(paler(0.2)(opened(PHOTOS[1]))))
    assert not is_plain([whole])
    found = comparable_hashes([whole])
    assert found is not None
    assert found.tolist() == read_hashes(hashes).tolist()
    assert looks_fit([whole], as_jpeg(paler(0.2)(opened(PHOTOS[1]))))


@pytest.mark.parametrize("looks", [["ab"], ["no hex"], ["00" * 1024, "ab"], ["00" * 1024]])
def test_what_cannot_be_read_as_looks_is_as_good_as_plain(looks: list[str]) -> None:
    assert is_plain(looks)
    assert comparable_hashes(looks) is None


def test_a_picture_without_looks_is_not_called_plain() -> None:
    assert (is_plain([]), comparable_hashes([])) == (False, None)


def test_looks_read_later_say_when() -> None:
    jpeg, moment = as_jpeg(opened(PHOTOS[0])), datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
    looks = looks_read_later(jpeg, moment)
    assert (looks[:2], read_later(looks), read_later(looks[:2])) == (looks_of(jpeg), moment, None)
    assert looks_fit(looks, jpeg)
    black = looks_read_later(as_jpeg(Image.new("RGB", (640, 480))), moment)
    assert (is_plain(black), len(black), read_later(black)) == (True, 3, moment)
    assert looks_fit(black, as_jpeg(Image.new("RGB", (640, 480))))


def test_looks_are_short_hex_and_follow_from_the_stored_copy() -> None:
    cleaned = clean(PHOTOS[0].read_bytes())
    whole, parts = cleaned.looks
    assert (len(whole), len(parts), len(windows())) == (32 * 32 * 2, 60 * 16, 60)
    assert windows()[0] == (0, 0, 100, 100)
    assert looks_of(cleaned.jpeg) == cleaned.looks
    assert looks_fit(cleaned.looks, cleaned.jpeg)
    assert not looks_fit(cleaned.looks, clean(PHOTOS[1].read_bytes()).jpeg)
    assert not looks_fit([whole, looks_at(PHOTOS[1])[1]], cleaned.jpeg)
