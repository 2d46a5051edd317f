"""Measures how surely a picture is known again, and that no other is taken for it. Run with -s for the table."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from intake.picture import clean
from intake.picture_looks import LAYS, LAYS_OF_A_TURN, looks_of, read_hashes, read_whole
from intake.same_picture import LIKENESS, LIKENESS_TURNED, candidates, likeness, same
from tests.intake.changed_pictures import (
    CHANGES,
    FIELD,
    PHOTOS,
    PRODUCTS,
    SCENES,
    WAYS,
    as_jpeg,
    changes_of_one_laid,
    cropped,
    laid_as,
    looks_at,
    opened,
    scaled,
)

FIELD_PICTURES = {
    "reused_photo_a.jpg",
    "photo_fake_staff_chat.png",
    "photo_text_benign_carrier_sticker.jpg",
    "photo_text_injection_note.jpg",
    "png_rgba_transparent.png",
}
TURNED = [way for way in WAYS if "turned" in way]


def best_likeness(new: list[str], stored: list[str], lays: Sequence[int] = range(LAYS)) -> float:
    """0.0 when the hashes do not even make it a candidate."""
    whole, kept = read_whole(new[0]), read_whole(stored[0])
    found = candidates(whole, np.array([read_hashes(stored[1])]), turned=True)
    return max((likeness(whole, kept, candidate) for candidate in found if candidate.lay in lays), default=0.0)


def known(new: list[str], stored: list[str], *, turned: bool = True) -> bool:
    whole, kept = read_whole(new[0]), read_whole(stored[0])
    found = candidates(whole, np.array([read_hashes(stored[1])]), turned=turned)
    return any(same(whole, kept, candidate) for candidate in found)


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
