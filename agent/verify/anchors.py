"""Every day's anchor computed again from the links."""

from __future__ import annotations

from collections.abc import Iterator

from agent.anchor import Heads, anchor_hash
from agent.chain import NOTHING_BEFORE
from agent.models import ChainAnchor, ChainRecord


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
