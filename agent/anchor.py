"""The daily anchor: the heads of all chains in one hash, so that a chain written anew from its start is seen.

Each is told in the log too: whoever can rewrite the whole database cannot rewrite a copy that is kept elsewhere.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone

from agent.canonical import digest_of
from agent.chain import NOTHING_BEFORE
from agent.facts import shop_day
from agent.models import ChainAnchor, ChainRecord

logger = logging.getLogger(__name__)

Heads = dict[int, tuple[int, str]]


def anchor_yesterday() -> ChainAnchor | None:
    """Anchors the shop's yesterday; None when it, or a later day, is anchored already."""
    day = shop_day(timezone.now()) - timedelta(days=1)
    newest = ChainAnchor.objects.order_by("-day").first()
    if newest is not None and newest.day >= day:
        return None
    last = max(_last_record_before(_end_of(day)), 0 if newest is None else newest.last_record_id)
    heads, records = heads_up_to(last)
    previous = NOTHING_BEFORE if newest is None else newest.hash
    anchor, made = ChainAnchor.objects.get_or_create(
        day=day,
        defaults={
            "chains": len(heads),
            "records": records,
            "last_record_id": last,
            "previous_hash": previous,
            "hash": anchor_hash(day, records, last, heads, previous),
        },
    )
    if not made:
        return None
    logger.info("anchor %s", noted(anchor))
    return anchor


def noted(anchor: ChainAnchor) -> str:
    """`2026-11-29:<hash>`, as `manage.py verify --held` reads it again."""
    return f"{anchor.day.isoformat()}:{anchor.hash}"


def heads_up_to(last_record_id: int) -> tuple[Heads, int]:
    """Request -> (sequence, hash) of its newest link among the first records, and how many those are."""
    heads: Heads = {}
    records = 0
    links = ChainRecord.objects.filter(pk__lte=last_record_id).order_by("pk")
    for request_id, sequence, link in links.values_list("request_id", "sequence", "hash").iterator():
        heads[request_id] = (sequence, link)
        records += 1
    return heads, records


def anchor_hash(
    day: date, records: int, last_record_id: int, heads: Mapping[int, tuple[int, str]], previous_hash: str
) -> str:
    lines = hashlib.sha256()
    for request_id in sorted(heads):
        sequence, link = heads[request_id]
        lines.update(f"{request_id}:{sequence}:{link}\n".encode("ascii"))
    return digest_of(
        {
            "day": day.isoformat(),
            "chains": len(heads),
            "records": records,
            "last_record": last_record_id,
            "heads": lines.hexdigest(),
            "previous": previous_hash,
        }
    )


def _last_record_before(moment: datetime) -> int:
    """No link with a smaller key can come later: whoever is writing one is waited for. SQLite has one writer anyway."""
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(f"LOCK TABLE {connection.ops.quote_name(ChainRecord._meta.db_table)} IN SHARE MODE")
        return ChainRecord.objects.filter(created_at__lt=moment).aggregate(last=Max("pk"))["last"] or 0


def _end_of(day: date) -> datetime:
    return datetime.combine(day + timedelta(days=1), time(), ZoneInfo(settings.SHOP_TIME_ZONE))
