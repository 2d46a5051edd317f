"""Sends small notes to open pages after commit. A note says that something is new; the page then reads the rows."""

from __future__ import annotations

import asyncio
import logging
import threading
import uuid
from functools import cache
from typing import Any

from channels.layers import get_channel_layer
from django.db import transaction

from intake.models import RefundRequest

logger = logging.getLogger(__name__)

DESK_GROUP = "desk"
MAX_WAITING = 1000
_waiting = threading.BoundedSemaphore(MAX_WAITING)


def staff_group(request_uuid: uuid.UUID) -> str:
    return f"case.{request_uuid}.staff"


def customer_group(request_uuid: uuid.UUID) -> str:
    return f"case.{request_uuid}.customer"


def announce_after_commit(request_id: int, rev: int, *, for_customer: bool) -> None:
    """Tells the open pages of a request that its timeline has reached `rev`, once the rows can be read."""
    transaction.on_commit(lambda: _announce(request_id, rev, for_customer), robust=True)


def _announce(request_id: int, rev: int, for_customer: bool) -> None:
    request_uuid = RefundRequest.objects.values_list("uuid", flat=True).get(pk=request_id)
    note = {"type": "case.news", "request": str(request_uuid), "rev": rev}
    groups = [staff_group(request_uuid), DESK_GROUP]
    if for_customer:
        groups.append(customer_group(request_uuid))
    send_soon([(group, note) for group in groups])


_one_loop = threading.Lock()


def send_soon(notes: list[tuple[str, dict[str, Any]]]) -> None:
    """Hands notes (group, message) to this process's sending loop and returns at once; a broker that is away costs
    the caller nothing, since pages ask again by themselves. Notes that find too many waiting are left out."""
    if not _waiting.acquire(blocking=False):
        logger.warning("live notes are left out: %s wait for the broker", MAX_WAITING)
        return
    sending = asyncio.run_coroutine_threadsafe(_send_all(notes), _sending_loop())
    sending.add_done_callback(lambda _: _waiting.release())


async def _send_all(notes: list[tuple[str, dict[str, Any]]]) -> None:
    layer = get_channel_layer()
    if layer is None:
        return
    try:
        for group, message in notes:
            await layer.group_send(group, message)
    except Exception as error:  # pages poll every 20 s, so a lost note is late news and no failure
        logger.warning("a live note was not sent: %s", error)


def _sending_loop() -> asyncio.AbstractEventLoop:
    """One loop per process, kept for its life: a loop per send leaves dead connections behind."""
    with _one_loop:  # two first senders at once would make two
        return _loop_of_this_process()


@cache
def _loop_of_this_process() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="live-sender", daemon=True).start()
    return loop
