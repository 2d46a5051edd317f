"""Every day's anchor computed again from the links, and laid beside those that were noted outside the database."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date

from agent.anchor import Heads, anchor_hash, noted
from agent.chain import NOTHING_BEFORE
from agent.models import ChainAnchor, ChainRecord

NOTED = re.compile(r"\d{4}-\d\d-\d\d:[0-9a-f]{64}")


def is_noted_anchor(text: str) -> bool:
    """Whether it reads like `agent.anchor.noted`."""
    if NOTED.fullmatch(text) is None:
        return False
    try:
        date.fromisoformat(_day(text))
    except ValueError:  # the thirteenth month
        return False
    return True


def check_held(held: Sequence[str]) -> Iterator[str]:
    """`held`: anchors as they were noted. Whoever rewrote chains and anchors alike did not rewrite these."""
    now = {noted(anchor) for anchor in ChainAnchor.objects.filter(day__in=[_day(one) for one in held])}
    for one in held:
        if one not in now:
            yield f"The anchor of {_day(one)} is not the one that was kept elsewhere: the book was written anew."


def _day(held: str) -> str:
    return held.partition(":")[0]


def check_anchors() -> Iterator[str]:
    """One pass over the links; days without an anchor are no fault, since each anchor holds all days before it."""
    links = ChainRecord.objects.order_by("pk").values_list("pk", "request_id", "sequence", "hash").iterator()
    heads: Heads = {}
    records, ahead, previous = 0, next(links, None), NOTHING_BEFORE
    for anchor in ChainAnchor.objects.order_by("day"):
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
