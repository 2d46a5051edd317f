"""What is kept of how a picture looks: how it is read and stored, and which pictures are too plain to be compared."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from PIL import Image, ImageDraw

from intake.picture import clean
from intake.picture_looks import (
    LAYS,
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
from tests.intake.changed_pictures import FIELD, PHOTOS, PRODUCTS, WAYS, as_jpeg, looks_at, opened, paler


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
