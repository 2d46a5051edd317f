"""A name that stands twice in one JSON object. JSON's own rule, the last one counts, would drop an amount unseen."""

from __future__ import annotations

from typing import Any

MOST_SHOWN = 40


class NameTwice(ValueError):
    """`name` is cut to 40 characters."""

    def __init__(self, name: str) -> None:
        self.name = name[:MOST_SHOWN]
        super().__init__(f"an object has the field “{self.name}” twice")


def each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For `json.loads(object_pairs_hook=...)`. Raises NameTwice."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise NameTwice(name)
        found[name] = value
    return found
