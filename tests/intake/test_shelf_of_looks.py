"""What a process has read of pictures' looks: never changed while it is used, never half, never too much."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.db import connection
from PIL import Image

from intake import look_alikes, shelf_of_looks
from intake.look_alikes import MOST_COMPARED
from intake.models import Photo
from intake.picture import clean
from intake.picture_looks import LAYS, hashes_laid, laid, looks_of, read_hashes, read_whole
from intake.shelf_of_looks import LooksNotRead, Shelf, ShelfKeeper
from tests.factories import RequestFactory
from tests.intake.test_look_alikes import changed, demo, found, sent_with, soft_pictures, turned

pytestmark = pytest.mark.django_db


class DatabaseAway(Exception):
    pass


def nobody_answers(execute: Any, sql: str, *rest: Any) -> Any:
    raise DatabaseAway


def test_a_shelf_begun_anew_while_another_thread_compares_takes_nothing_from_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Past its room, and the query that was to fill the new one fails between the other's reading and comparing."""
    keeper = ShelfKeeper()
    monkeypatch.setattr(shelf_of_looks, "MOST_KEPT", 0)
    first, again = RequestFactory(), RequestFactory()
    kept, copy = sent_with(first, demo("carafe-cracked")), sent_with(again, changed(demo("carafe-cracked")))
    shelf = keeper.read([kept.digest])
    with connection.execute_wrapper(nobody_answers), pytest.raises(DatabaseAway):
        keeper.read([copy.digest])
    assert shelf.like(copy, turned=True) == {kept.digest}
    keeper.read([copy.digest])
    assert shelf.like(copy, turned=True) == {kept.digest}


def test_a_picture_whose_looks_the_database_does_not_give_fails_the_look_up() -> None:
    request = RequestFactory()
    kept = sent_with(request, demo("carafe-cracked"))
    keeper = ShelfKeeper()
    with pytest.raises(LooksNotRead):
        keeper.read([kept.digest, "0" * 64])
    assert keeper.read([kept.digest]).known == {kept.digest}


def test_a_shelf_that_grows_leaves_the_one_in_use_as_it_was() -> None:
    keeper, request = ShelfKeeper(), RequestFactory()
    names = ("carafe-cracked", "mugs-cracked-rim", "tamper-dented-base", "kettle-dented-lid")
    photos = [sent_with(request, demo(name)) for name in names]
    early = keeper.read([photos[0].digest])
    late = keeper.read([photo.digest for photo in photos])
    copy = sent_with(RequestFactory(), changed(demo("kettle-dented-lid")))
    assert (early.like(copy, turned=True), late.like(copy, turned=True), early.digests) == (
        set(),
        {photos[3].digest},
        (photos[0].digest,),
    )


def test_a_full_shelf_is_begun_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_alikes, "keeper", ShelfKeeper())
    monkeypatch.setattr(shelf_of_looks, "MOST_KEPT", 1)
    first, again = RequestFactory(), RequestFactory()
    for name in ("carafe-cracked", "mugs-cracked-rim", "tamper-dented-base"):
        sent_with(first, demo(name))
    sent_with(again, changed(demo("mugs-cracked-rim")))
    assert [found(again) for _ in range(3)] == [[(first.number, False)]] * 3


def test_what_was_compared_upright_only_is_remembered_apart() -> None:
    """Either way first, and again when the shelf has grown."""
    keeper = ShelfKeeper()
    first, second = (sent_with(RequestFactory(), demo(name)) for name in ("carafe-cracked", "mugs-cracked-rim"))
    copy = sent_with(RequestFactory(), turned(demo("carafe-cracked")))
    for digests in ([first.digest], [first.digest, second.digest]):
        shelf = keeper.read(digests)
        found = [shelf.like(copy, turned=way) for way in (False, True, False)]
        assert found == [set(), {first.digest}, set()]
    mirrored = sent_with(RequestFactory(), turned(demo("carafe-cracked"), Image.Transpose.FLIP_LEFT_RIGHT))
    assert [shelf.like(mirrored, turned=way) for way in (True, False)] == [{first.digest}] * 2


def full_shelf(last: Photo) -> Shelf:
    """Pictures enough for a full look-up, `last` behind them all."""
    softs = [soft.astype(np.float32) for soft in soft_pictures(MOST_COMPARED // LAYS)]
    hashes = np.concatenate([*(hashes_laid(soft, LAYS) for soft in softs), [read_hashes(last.looks[1])]])
    wholes = np.array([*(laid(soft, lay) for soft in softs for lay in range(LAYS)), read_whole(last.looks[0])])
    digests = (*(uuid.uuid4().hex * 2 for _ in wholes[:-1]), last.digest)
    return Shelf(digests, frozenset(digests), hashes, wholes.astype(np.uint8))


def looked_like(data: bytes) -> Photo:
    cleaned = clean(data)
    return Photo(digest=cleaned.digest, looks=looks_of(cleaned.jpeg))


def test_a_full_shelf_is_looked_through_quickly_and_a_turned_copy_found_behind_it(tell: Callable[[str], None]) -> None:
    """In the time the processor spends on it: the machine may be busy with something else."""
    kept = looked_like(demo("kettle-dented-lid"))
    shelf, seconds = full_shelf(kept), []
    for name in ("kettle-dented-lid", "carafe-cracked", "mugs-cracked-rim"):
        copy = looked_like(turned(changed(demo(name))))
        started = time.thread_time()
        found = shelf.like(copy, turned=True)
        seconds.append(time.thread_time() - started)
        assert found == ({kept.digest} if name == "kettle-dented-lid" else set())
    tell(f"a new picture among {len(shelf.digests):,}, in all its lays: {min(seconds) * 1000:.0f} ms")
    assert min(seconds) < 0.3
