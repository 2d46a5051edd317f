"""What a process has read of pictures' looks: never changed while it is used, never half, never too much."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from intake import look_alikes, shelf_of_looks
from intake.shelf_of_looks import LooksNotRead, ShelfKeeper
from tests.factories import RequestFactory
from tests.intake.test_look_alikes import changed, demo, found, sent_with

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
    assert shelf.like(copy) == {kept.digest}
    keeper.read([copy.digest])
    assert shelf.like(copy) == {kept.digest}


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
    assert (early.like(copy), late.like(copy), early.digests) == (set(), {photos[3].digest}, (photos[0].digest,))


def test_a_full_shelf_is_begun_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_alikes, "keeper", ShelfKeeper())
    monkeypatch.setattr(shelf_of_looks, "MOST_KEPT", 1)
    first, again = RequestFactory(), RequestFactory()
    for name in ("carafe-cracked", "mugs-cracked-rim", "tamper-dented-base"):
        sent_with(first, demo(name))
    sent_with(again, changed(demo("mugs-cracked-rim")))
    assert [found(again) for _ in range(3)] == [[(first.number, False)]] * 3
