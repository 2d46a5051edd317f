"""Fills the demo shop: what is missing is added, what is there stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import transaction

from intake.models import Photo, PolicyVersion
from intake.picture import CleanPicture
from intake.policy_in_force import policy_in_force
from refunddesk.demo_shop.calendar import Calendar, shop_calendar
from refunddesk.demo_shop.case import Case
from refunddesk.demo_shop.cases import CASES
from refunddesk.demo_shop.pictures import clean_pictures
from refunddesk.demo_shop.scene import History
from refunddesk.demo_shop.write_cases import missing_cases, write_cases
from refunddesk.demo_shop.write_orders import write_orders
from refunddesk.demo_shop.write_people import People, write_people


@dataclass(frozen=True)
class Added:
    """How many orders and resolved requests were not there before."""

    orders: int
    requests: int


def seed_demo_shop() -> Added:
    pictures = pictures_of(missing_cases())
    with fill_transaction() as stored:
        policy = policy_in_force()
        # Of two seeds at once the second waits here, and then finds everything done.
        PolicyVersion.objects.select_for_update(no_key=True).get(pk=policy.pk)
        return fill(write_people(), pictures, shop_calendar(), stored)


def pictures_of(cases: tuple[Case, ...] | list[Case] = CASES) -> dict[str, CleanPicture]:
    """The cleaned photos of these cases; made before the transaction, which then is short."""
    return clean_pictures({case.look.photo for case in cases if case.look})


def fill(people: People, pictures: dict[str, CleanPicture], calendar: Calendar, stored: list[str]) -> Added:
    """Writes what is missing; `stored` takes the names of the photo files, so that they can be undone too."""
    orders = write_orders(calendar, people)
    cases = [case for case in missing_cases() if case.look is None or case.look.photo in pictures]
    write_cases(History(calendar, people, policy_in_force(), pictures, stored=stored), cases)
    return Added(orders=orders, requests=len(cases))


@contextmanager
def fill_transaction() -> Iterator[list[str]]:
    """A transaction whose photo files go with its rows: their names belong into the list, and if it fails they are
    deleted."""
    stored: list[str] = []
    try:
        with transaction.atomic():
            yield stored
    except BaseException:
        delete_files(stored)
        raise


def delete_files(names: list[str]) -> None:
    storage = Photo().file.storage
    for name in names:
        storage.delete(name)
