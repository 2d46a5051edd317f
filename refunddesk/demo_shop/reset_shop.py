"""Brings the demo shop back to its first day, with dates moved to now, also while a demo runs."""

from __future__ import annotations

import logging
import time

from django.db import OperationalError, transaction

from intake.picture import CleanPicture
from refunddesk.demo_shop.calendar import shop_calendar
from refunddesk.demo_shop.emptying import empty_tables
from refunddesk.demo_shop.seed_shop import delete_files, fill, fill_transaction, pictures_of
from refunddesk.demo_shop.write_people import restore_people

logger = logging.getLogger(__name__)

TRIES = 5
SECONDS_BETWEEN_TRIES = 1.0


def reset_demo_shop() -> None:
    """Old rows go and new ones come in one transaction, which a busy database may refuse a few times.

    A run at work finds its row gone: it has lost its lease and can write nothing. Old photo files go after the commit.
    """
    pictures = pictures_of()
    for tries_left in reversed(range(TRIES)):
        try:
            _reset(pictures)
            return
        except OperationalError as error:
            if not tries_left:
                raise
            logger.warning("the shop was busy and is reset again in a moment: %s", error)
            time.sleep(SECONDS_BETWEEN_TRIES)


def _reset(pictures: dict[str, CleanPicture]) -> None:
    with fill_transaction() as stored:
        old_files = empty_tables()
        fill(restore_people(), pictures, shop_calendar(), stored)
        transaction.on_commit(lambda: delete_files(old_files), robust=True)
