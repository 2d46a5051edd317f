"""What the fixtures' pictures show, for the oracle: read from their catalogues, weighed by DESIGN section 5."""

from __future__ import annotations

import json
from collections.abc import Collection
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parents[3] / "fixtures"
FOLDERS = (FIXTURES / "photos", FIXTURES / "scenarios" / "photos")


@cache
def catalogue() -> dict[str, dict[str, Any]]:
    """By file name, what each picture of the fixtures shows."""
    texts = [(folder / "catalog.json").read_text(encoding="utf-8") for folder in FOLDERS]
    return {entry["file"]: entry for entry in chain.from_iterable(json.loads(text) for text in texts)}


def best_evidence(names: Collection[str], sku: str, reason: str) -> str:
    """`yes`, `unclear` or `no`: of several pictures the best evidence counts."""
    found = {_shows(catalogue()[name], sku, reason) for name in names}
    return next(verdict for verdict in ("yes", "unclear", "no") if verdict in found)


def addresses_reviewer(names: Collection[str]) -> bool:
    return any(catalogue()[name]["text_addresses_reviewer"] for name in names)


def originals(names: Collection[str]) -> set[str]:
    """A picture that was cut, scaled or saved again is still the one it was made of."""
    return {catalogue()[name].get("copy_of", name) for name in names}


def _shows(entry: dict[str, Any], sku: str, reason: str) -> str:
    if entry["item_sku"] != sku or reason not in entry["reasons"]:
        return "no"
    return "unclear" if entry.get("unclear") else "yes"
