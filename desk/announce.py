"""Tells open desks that counts or the brake changed without a step that says so."""

from __future__ import annotations

from django.db import transaction

from intake.live import DESK_GROUP, send_soon


def tell_open_desks() -> None:
    """After the commit; a broker that is away costs nothing, since pages ask again by themselves."""
    transaction.on_commit(lambda: send_soon([(DESK_GROUP, {"type": "desk.news"})]), robust=True)
