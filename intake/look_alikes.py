"""Finds the other requests a picture was already sent with: the same file, or one that looks like it.

What pictures look like is kept by the process (`shelf_of_looks`); which requests hold one is asked of the database each
time.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, Q, QuerySet, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from intake.models import Photo
from intake.models.request import FIRST_NUMBER
from intake.shelf_of_looks import keeper

LOOK_BACK = timedelta(days=730)
MOST_COMPARED = 20_000
MOST_NAMED = 10
MOST_ROWS_OF_ONE = 50
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
    until: datetime | None = None,
    at_most: int = MOST_COMPARED,
    turned: bool = True,
) -> dict[uuid.UUID, list[Reuse]]:
    """For each of `photos` the requests other than `besides` it was sent with, of anyone, oldest first, at most ten.

    The same file is found however old it is. Looks are compared with the newest `at_most` pictures of the two years
    before `until` (now) that belong to a request or an answer, in all eight ways a picture can be laid; without
    `turned` only upright and mirrored, as the shop once did. With `at`, only what had been sent before that moment is
    named. Plain pictures (covered lens, one colour) and those whose looks were not read yet are found by their file
    only. Two queries, and one for each 500 pictures this process has not read yet. Raises LooksNotRead.
    """
    if not photos:
        return {}
    newest = _newest_with_looks(until, at_most)
    shelf, compared = keeper.read(newest), set(newest)
    like = {photo.pk: shelf.like(photo, turned=turned) & compared for photo in photos}
    wanted = {photo.digest for photo in photos}.union(*like.values())
    holders = _holders(wanted, besides, at)
    return {photo.pk: _named(photo.digest, like[photo.pk], holders) for photo in photos}


def requests_with_the_same_file(photos: Sequence[Photo], *, besides: int) -> list[int]:
    """Numbers of the other requests that hold one of these files, ascending; one query."""
    holders = _holders({photo.digest for photo in photos}, besides, None)
    return sorted({FIRST_NUMBER + key for held in holders.values() for key, _ in held})


def _newest_with_looks(until: datetime | None, at_most: int) -> list[str]:
    """Digests of the pictures that are compared. Without `until` also what another machine's clock calls later."""
    sent = Photo.objects.filter(OF_A_REQUEST, created_at__gte=(until or timezone.now()) - LOOK_BACK)
    if until is not None:
        sent = sent.filter(created_at__lte=until)
    return list(sent.exclude(looks=[]).order_by("-created_at").values_list("digest", flat=True)[:at_most])


def _holders(digests: set[str], besides: int, at: datetime | None) -> dict[str, set[tuple[int, uuid.UUID]]]:
    """By digest, the requests that hold the picture, sent before `at` if it is given; of each digest the first rows
    only, since one black picture may have been sent a thousand times."""
    held = _sent_before(at).filter(digest__in=digests)
    others = held.exclude(request_id=besides).exclude(reply__question__request_id=besides)
    nth = Window(RowNumber(), partition_by=F("digest"), order_by=("created_at", "id"))
    rows = (
        others.annotate(nth=nth)
        .filter(nth__lte=MOST_ROWS_OF_ONE)
        .values_list(
            "digest", "request_id", "request__uuid", "reply__question__request_id", "reply__question__request__uuid"
        )
    )
    holders: dict[str, set[tuple[int, uuid.UUID]]] = {}
    for digest, request_id, request_uuid, answered_id, answered_uuid in rows:
        holders.setdefault(digest, set()).add((request_id or answered_id, request_uuid or answered_uuid))
    return holders


def _sent_before(at: datetime | None) -> QuerySet[Photo]:
    sent = Photo.objects.filter(OF_A_REQUEST)
    return sent if at is None else sent.filter(Q(request__created_at__lt=at) | Q(reply__created_at__lt=at))


def _named(own: str, alike: set[str], holders: dict[str, set[tuple[int, uuid.UUID]]]) -> list[Reuse]:
    same = holders.get(own, set())
    like = {holder for digest in alike for holder in holders.get(digest, set())} - same
    found = [Reuse(key, name, True) for key, name in same] + [Reuse(key, name, False) for key, name in like]
    return sorted(found)[:MOST_NAMED]
