"""Finds the other requests a picture was already sent with: the same file, or one that looks like it.

Looks follow from the stored bytes alone, so what a process has read once stays true: it keeps them by digest, whatever
rows come and go, and which requests hold a picture is asked of the database each time.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from django.db.models import Q, QuerySet
from django.utils import timezone
from numpy.typing import NDArray

from intake.models import Photo
from intake.models.request import FIRST_NUMBER
from intake.picture_looks import SIDE, Hashes, is_plain, read_hashes, read_whole, windows
from intake.same_picture import LIKENESS, candidates, likeness

LOOK_BACK = timedelta(days=730)
MOST_COMPARED = 20_000
MOST_KEPT = 25_000
MOST_NAMED = 10
ROWS_AT_ONCE = 500
OF_A_REQUEST = Q(request__isnull=False) | Q(reply__isnull=False)


@dataclass(frozen=True, order=True)
class Reuse:
    """Another request that holds the picture; `same_file`: byte for byte, not only by its looks."""

    request_id: int
    request_uuid: uuid.UUID
    same_file: bool

    @property
    def number(self) -> int:
        return FIRST_NUMBER + self.request_id


def photos_of(request_id: int) -> list[Photo]:
    """The pictures of the request and of its answers."""
    own = Q(request_id=request_id) | Q(reply__question__request_id=request_id)
    return list(Photo.objects.filter(own).order_by("created_at", "id")[:200])


def reuses(
    photos: Sequence[Photo],
    *,
    besides: int,
    at: datetime | None = None,
    at_most: int = MOST_COMPARED,
) -> dict[uuid.UUID, list[Reuse]]:
    """For each of `photos` the requests other than `besides` it was sent with, of anyone, oldest first, at most ten.

    Looks at the newest `at_most` pictures of two years that belong to a request or an answer; with `at`, only at what
    had been sent before that moment. Plain pictures (covered lens, one colour) prove nothing and are not compared;
    pictures kept before looks were are found by their file only. Two queries, and one for each 500 pictures this
    process has not read yet.
    """
    asked = [photo for photo in photos if not is_plain(photo.looks)]
    if not asked:
        return {}
    since = (at or timezone.now()) - LOOK_BACK
    sent = Photo.objects.filter(OF_A_REQUEST, created_at__gte=since)
    if at is not None:
        sent = sent.filter(Q(request__created_at__lt=at) | Q(reply__created_at__lt=at))
    digests = list(sent.order_by("-created_at").values_list("digest", flat=True)[:at_most])
    _shelf.read(digests)
    like = {photo.pk: _shelf.like(photo) for photo in asked}
    wanted = {photo.digest for photo in asked} | {digest for alike in like.values() for digest in alike}
    holders = _holders(sent.filter(digest__in=wanted & set(digests)), besides)
    return {photo.pk: _named(photo.digest, like[photo.pk], holders) for photo in asked}


def _holders(sent: QuerySet[Photo], besides: int) -> dict[str, set[tuple[int, uuid.UUID]]]:
    """By digest, the requests that hold the picture."""
    rows = sent.values_list(
        "digest", "request_id", "request__uuid", "reply__question__request_id", "reply__question__request__uuid"
    )
    holders: dict[str, set[tuple[int, uuid.UUID]]] = {}
    for digest, request_id, request_uuid, answered_id, answered_uuid in rows:
        key, name = request_id or answered_id, request_uuid or answered_uuid
        if key != besides:
            holders.setdefault(digest, set()).add((key, name))
    return holders


def _named(own: str, alike: set[str], holders: dict[str, set[tuple[int, uuid.UUID]]]) -> list[Reuse]:
    same = holders.get(own, set())
    like = {holder for digest in alike for holder in holders.get(digest, set())} - same
    found = [Reuse(key, name, True) for key, name in same] + [Reuse(key, name, False) for key, name in like]
    return sorted(found)[:MOST_NAMED]


class _Shelf:
    """The looks this process has read, by digest; rows are only added. `_alike` remembers how far along the rows a
    picture was compared and which ones are like it, so that each pair is compared once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._empty()

    def read(self, digests: Sequence[str]) -> None:
        """Adds what is missing; begins anew when it holds too much."""
        with self._lock:
            if len(self._known) > MOST_KEPT:
                self._empty()
            missing = [digest for digest in digests if digest not in self._known]
            for start in range(0, len(missing), ROWS_AT_ONCE):
                self._add(missing[start : start + ROWS_AT_ONCE])

    def like(self, photo: Photo) -> set[str]:
        """Digests of the pictures that look like `photo`, which need not stand on the shelf itself."""
        if len(photo.looks) != 2:
            return set()
        with self._lock:
            rows, digests = len(self._digests), self._digests
            hashes, wholes, alike = self._hashes[:rows], self._wholes, self._alike
            seen, found = alike.get(photo.digest, (0, frozenset()))
        if seen < rows:
            whole = read_whole(photo.looks[0])
            for candidate in candidates(whole, hashes[seen:]):
                row = seen + candidate.row
                if likeness(whole, wholes[row].astype(np.float32), candidate) >= LIKENESS:
                    found = found | {digests[row]}
            alike[photo.digest] = (rows, found)
        return set(found)

    def _empty(self) -> None:
        self._known: set[str] = set()
        self._digests: list[str] = []
        self._hashes: Hashes = np.empty((0, len(windows())), dtype=np.uint64)
        self._wholes: NDArray[np.uint8] = np.empty((0, SIDE, SIDE), dtype=np.uint8)
        self._alike: dict[str, tuple[int, frozenset[str]]] = {}

    def _add(self, digests: Sequence[str]) -> None:
        rows = Photo.objects.filter(digest__in=digests).values_list("digest", "looks")
        comparable = {digest: looks for digest, looks in rows if len(looks) == 2}
        first = len(self._digests)
        self._make_room(first + len(comparable))
        for row, looks in enumerate(comparable.values(), start=first):
            self._wholes[row] = read_whole(looks[0])
            self._hashes[row] = read_hashes(looks[1])
        self._digests.extend(comparable)
        self._known.update(digests)

    def _make_room(self, rows: int) -> None:
        if rows <= len(self._hashes):
            return
        room = max(rows, 2 * len(self._hashes))
        hashes = np.zeros((room, len(windows())), dtype=np.uint64)
        wholes = np.zeros((room, SIDE, SIDE), dtype=np.uint8)
        hashes[: len(self._hashes)], wholes[: len(self._wholes)] = self._hashes, self._wholes
        self._hashes, self._wholes = hashes, wholes


_shelf = _Shelf()
