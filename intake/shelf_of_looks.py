"""The looks this process has read, so that a picture is compared with thousands without reading them again.

Looks follow from the stored bytes alone, so what was read once stays true: they are kept by digest, whatever rows come
and go.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intake.models import Photo
from intake.picture_looks import SIDE, Hashes, comparable_hashes, read_whole, windows
from intake.same_picture import candidates, same

MOST_KEPT = 25_000
ROWS_AT_ONCE = 500
Wholes = NDArray[np.uint8]


class LooksNotRead(Exception):
    """A picture that was to be compared with is not there, so nothing may be concluded from finding no look-alike.

    Whoever meets it tries again later: it passes as soon as the database gives the picture, so that no person need be
    asked, and meanwhile nothing is paid.
    """


@dataclass(frozen=True)
class Shelf:
    """What stands on the shelf at one moment; its rows never change. `hashes` and `wholes` have one for each of
    `digests`, and room to spare; `known` are also the pictures too plain to have a row. `alike` remembers, for each
    picture and whether it was turned, how far along the rows it was compared and which ones are like it; later shelves
    with the same rows in front share it."""

    digests: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()
    hashes: Hashes = field(default_factory=lambda: np.empty((0, len(windows())), dtype=np.uint64))
    wholes: Wholes = field(default_factory=lambda: np.empty((0, SIDE, SIDE), dtype=np.uint8))
    alike: dict[tuple[str, bool], tuple[int, frozenset[str]]] = field(default_factory=dict)

    def like(self, photo: Photo, *, turned: bool) -> set[str]:
        """Digests of the pictures that look like `photo`, if `turned` also lying another way than upright; it need not
        stand on the shelf itself."""
        if comparable_hashes(photo.looks) is None:
            return set()
        seen, found = self.alike.get((photo.digest, turned), (0, frozenset()))
        if seen < len(self.digests):
            whole = read_whole(photo.looks[0])
            for candidate in candidates(whole, self.hashes[seen : len(self.digests)], turned=turned):
                row = seen + candidate.row
                if self.digests[row] not in found and same(whole, self.wholes[row].astype(np.float32), candidate):
                    found = found | {self.digests[row]}
            self.alike[photo.digest, turned] = (len(self.digests), found)
        return set(found)


class ShelfKeeper:
    """Makes each shelf beside the one that is in use and puts it in its place when it is complete."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shelf = Shelf()

    def read(self, digests: Sequence[str]) -> Shelf:
        """A shelf with all these pictures, which have looks; begun anew when it would hold too much. Raises
        LooksNotRead when the database does not give one of them."""
        with self._lock:
            shelf = Shelf() if len(self._shelf.known) > MOST_KEPT else self._shelf
            missing = [digest for digest in digests if digest not in shelf.known]
            if missing:
                shelf = _with_more(shelf, _looks_of(missing))
            if not shelf.known.issuperset(digests):
                raise LooksNotRead("a picture to compare with has no looks any more")
            if len(shelf.alike) > MOST_KEPT:
                shelf.alike.clear()
            self._shelf = shelf
            return shelf


def _looks_of(digests: Sequence[str]) -> dict[str, list[str]]:
    looks: dict[str, list[str]] = {}
    for start in range(0, len(digests), ROWS_AT_ONCE):
        rows = Photo.objects.filter(digest__in=digests[start : start + ROWS_AT_ONCE]).exclude(looks=[])
        looks |= dict(rows.values_list("digest", "looks"))
    return looks


def _with_more(shelf: Shelf, looks: dict[str, list[str]]) -> Shelf:
    """`shelf` with rows behind its own. The arrays have room to spare, which only the newest shelf's follower fills, so
    that one more picture does not copy them all."""
    hashes = {digest: found for digest, each in looks.items() if (found := comparable_hashes(each)) is not None}
    first, rows = len(shelf.digests), len(shelf.digests) + len(hashes)
    all_hashes, wholes = _with_room(shelf.hashes, rows), _with_room(shelf.wholes, rows)
    for row, digest in enumerate(hashes, start=first):
        all_hashes[row], wholes[row] = hashes[digest], read_whole(looks[digest][0])
    return Shelf(shelf.digests + tuple(hashes), shelf.known | looks.keys(), all_hashes, wholes, shelf.alike)


def _with_room(array: NDArray[Any], rows: int) -> NDArray[Any]:
    if rows <= len(array):
        return array
    roomy = np.zeros((max(rows, 2 * len(array)), *array.shape[1:]), dtype=array.dtype)
    roomy[: len(array)] = array
    return roomy


keeper = ShelfKeeper()
