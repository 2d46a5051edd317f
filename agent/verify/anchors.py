"""Every day's anchor computed again from the links, and laid beside those that were noted outside the database."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from django.db.models import Count, Max, Min
from django.utils import timezone

from agent.anchor import Heads, anchor_hash, noted
from agent.chain import NOTHING_BEFORE
from agent.facts import shop_day
from agent.models import ChainAnchor, ChainRecord

NOTED = re.compile(r"\d{4}-\d\d-\d\d:[0-9a-f]{64}")
# Anchored is yesterday; a shop that has moved to another zone may have had a later one.
NEWEST_POSSIBLE = timedelta(days=1)


def is_noted_anchor(text: str) -> bool:
    """Whether it reads like `agent.anchor.noted`."""
    if NOTED.fullmatch(text) is None:
        return False
    try:
        date.fromisoformat(_day(text))
    except ValueError:  # the thirteenth month
        return False
    return True


def not_anchored() -> str:
    """What no anchor holds yet, in words; empty when all is held. Only an anchor shows that an end was cut off."""
    last = ChainAnchor.objects.aggregate(last=Max("last_record_id"))["last"] or 0
    since = ChainRecord.objects.filter(pk__gt=last).aggregate(links=Count("pk"), oldest=Min("created_at"))
    if not since["links"]:
        return ""
    counted = "1 link is" if since["links"] == 1 else f"{since['links']} links are"
    return f"{counted} in no anchor yet, the oldest of {shop_day(since['oldest'])}"


def check_held(held: Sequence[str]) -> Iterator[str]:
    """`held`: anchors as they were noted. Whoever rewrote chains and anchors alike did not rewrite these."""
    anchors = ChainAnchor.objects.filter(day__in=[_day(one) for one in held])
    now = {anchor.day.isoformat(): noted(anchor) for anchor in anchors}
    for one in held:
        day = _day(one)
        if day not in now:
            yield f"The anchor of {day} was kept elsewhere and is not in the book: it was taken out, or never here."
        elif one != now[day]:
            yield f"The anchor of {day} is not the one that was kept elsewhere: the book was written anew."


def _day(held: str) -> str:
    return held.partition(":")[0]


def check_anchors() -> Iterator[str]:
    """One pass over the links; days without an anchor are no fault, since each anchor holds all days before it."""
    links = ChainRecord.objects.order_by("pk").values_list("pk", "request_id", "sequence", "hash").iterator()
    heads: Heads = {}
    records, ahead, previous = 0, next(links, None), NOTHING_BEFORE
    newest_day = shop_day(timezone.now()) + NEWEST_POSSIBLE
    for anchor in ChainAnchor.objects.order_by("day"):
        if anchor.day > newest_day:  # as long as it stands there, no day before it is anchored
            yield f"The anchor of {anchor.day} is of a day that has not come."
        while ahead is not None and ahead[0] <= anchor.last_record_id:
            _, request_id, sequence, link = ahead
            heads[request_id] = (sequence, link)
            records, ahead = records + 1, next(links, None)
        if anchor.previous_hash != previous:
            yield f"The anchor of {anchor.day} does not hold the hash of the anchor before it."
        again = anchor_hash(anchor.day, records, anchor.last_record_id, heads, anchor.previous_hash)
        if (anchor.hash, anchor.chains, anchor.records) != (again, len(heads), records):
            yield f"The anchor of {anchor.day} does not fit the chains: a link up to that day was changed or removed."
        previous = anchor.hash
