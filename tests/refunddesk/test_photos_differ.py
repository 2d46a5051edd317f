from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

PHOTOS = Path(__file__).resolve().parents[2] / "fixtures" / "photos"
SKUS = {"CAR-600", "DRP-02", "KTL-09", "GRD-C40", "HGR-01", "SCL-01", "MUG-2", "FLT-100", "TMP-58"}
REASONS = {"damaged", "defective", "wrong_item"}
LEAST_LONG_SIDE = 1200
MOST_BYTES = 400_000
SIDE = 16
LEAST_DISTANCE = 140


def catalog() -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads((PHOTOS / "catalog.json").read_text())
    return entries


def claim_photos() -> list[Path]:
    return sorted(PHOTOS.glob("*.jpg"))


def product_photos() -> list[Path]:
    return sorted((PHOTOS.parents[1] / "refunddesk" / "static" / "demo" / "products").glob("*.jpg"))


def difference_hash(path: Path) -> int:
    """Whether brightness rises from each cell to its right and to its lower neighbour; 2 * SIDE * SIDE bits."""
    with Image.open(path) as photo:
        cells = photo.convert("L").resize((SIDE + 1, SIDE + 1), Image.Resampling.LANCZOS).tobytes()
    width = SIDE + 1
    bits = 0
    for y, x in itertools.product(range(SIDE), repeat=2):
        here = cells[y * width + x]
        bits = bits << 2 | (cells[y * width + x + 1] > here) << 1 | (cells[(y + 1) * width + x] > here)
    return bits


def distances() -> dict[tuple[str, str], int]:
    hashes = {path.name: difference_hash(path) for path in [*claim_photos(), *product_photos()]}
    return {(a, b): (hashes[a] ^ hashes[b]).bit_count() for a, b in itertools.combinations(sorted(hashes), 2)}


def test_no_two_photos_can_be_mistaken_for_each_other() -> None:
    found = distances()
    closest = min(found, key=lambda pair: found[pair])
    assert found[closest] >= LEAST_DISTANCE, f"{closest} differ by {found[closest]} of {2 * SIDE * SIDE} bits only"


def test_a_photo_saved_again_smaller_stays_recognisable(tmp_path: Path) -> None:
    for path in claim_photos():
        again = tmp_path / path.name
        with Image.open(path) as photo:
            photo.resize((photo.width // 2, photo.height // 2)).save(again, "JPEG", quality=60)
        assert (difference_hash(path) ^ difference_hash(again)).bit_count() < LEAST_DISTANCE // 2


def test_the_catalog_names_every_claim_photo_and_no_other() -> None:
    assert sorted(entry["file"] for entry in catalog()) == [path.name for path in claim_photos()]


def test_every_sku_has_its_product_picture() -> None:
    assert {path.stem for path in product_photos()} == SKUS


@pytest.mark.parametrize("entry", catalog(), ids=lambda entry: str(entry["file"]))
def test_a_catalog_entry_says_what_its_photo_shows(entry: dict[str, Any]) -> None:
    assert entry["item_sku"] in SKUS
    assert set(entry["reasons"]) <= REASONS
    assert bool(entry["reasons"]) is entry["fault"]
    assert entry["text_addresses_reviewer"] is False
    assert entry["shows"].endswith(".")


@pytest.mark.parametrize("path", claim_photos(), ids=lambda path: path.name)
def test_a_claim_photo_is_large_and_light_and_a_plain_jpeg(path: Path) -> None:
    with Image.open(path) as photo:
        assert photo.format == "JPEG"
        assert max(photo.size) >= LEAST_LONG_SIDE
        assert dict(photo.getexif()) == {}
    assert path.stat().st_size <= MOST_BYTES


@pytest.mark.parametrize("path", product_photos(), ids=lambda path: path.name)
def test_a_product_picture_is_a_square_of_640_pixels(path: Path) -> None:
    with Image.open(path) as photo:
        assert (photo.format, photo.size) == ("JPEG", (640, 640))
