"""Seals what a case said last: steps that no decision, reserve or answer came after get a link of their own."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from time import monotonic

from django.db import transaction
from django.db.models import Exists, OuterRef, Subquery
from django.db.models.fields.json import KT
from django.utils import timezone

from agent.chain import append_link
from agent.link_facts import case_facts
from agent.models import ChainRecord
from intake.models import RefundRequest, Step

logger = logging.getLogger(__name__)

AT_ONCE = 200
# Whoever is at work on a case seals it soon by what comes of that; only what has come to rest is sealed here.
AT_REST_AFTER = timedelta(minutes=10)
# The worker of short tasks has others waiting; the next hour goes on where this one stopped.
LONGEST_SECONDS = 30


def seal_timelines() -> int:
    """Appends a link to each chain that does not hold its newest steps yet; returns to how many."""
    started, last, sealed = monotonic(), 0, 0
    while found := list(islice(_unsealed(after=last), AT_ONCE)):
        sealed += sum(_seal_or_tell(request_id) for request_id in found)
        last = found[-1]
        if monotonic() - started > LONGEST_SECONDS:
            break
    return sealed


def seal_timeline(request_id: int, *, at: datetime | None = None) -> bool:
    """Appends the link, in the caller's transaction; False: every step that has ended is in the chain already."""
    request = RefundRequest.objects.select_for_update(no_key=True).only("rev").get(pk=request_id)
    newest = ChainRecord.objects.filter(request_id=request_id).order_by("-sequence").first()
    sealed_rev = 0 if newest is None else newest.facts["timeline"]["rev"]
    ended = Step.objects.filter(request_id=request_id, rev__gt=sealed_rev).exclude(state=Step.State.RUNNING)
    if not ended.exists():
        return False
    facts = case_facts(RefundRequest.objects.select_related("policy").get(pk=request_id))
    append_link(request_id, ChainRecord.Kind.TIMELINE, seal_name(request_id, request.rev), facts, at=at)
    return True


def seal_name(request_id: int, rev: int) -> str:
    """The subject of the link that seals the timeline up to `rev`."""
    return f"{request_id}:{rev}"


def _unsealed(*, after: int) -> Iterator[int]:
    """Keys of requests at rest whose timeline was written to since its newest link."""
    recent = Step.objects.filter(request=OuterRef("pk"), created_at__gt=timezone.now() - AT_REST_AFTER)
    newest = ChainRecord.objects.filter(request=OuterRef("pk")).order_by("-sequence")
    requests = RefundRequest.objects.filter(~Exists(recent), pk__gt=after, rev__gt=0).order_by("pk")
    sealed = Subquery(newest.annotate(sealed=KT("facts__timeline__rev")).values("sealed")[:1])
    for request_id, rev, sealed_rev in requests.annotate(sealed=sealed).values_list("pk", "rev", "sealed").iterator():
        if str(sealed_rev) != str(rev):
            yield request_id


def _seal_or_tell(request_id: int) -> bool:
    try:
        return _seal_unless_locked(request_id)
    except Exception:  # a chain that somebody made unreadable must not keep the others from being sealed
        logger.exception("the timeline of request %s could not be sealed", request_id)
        return False


def _seal_unless_locked(request_id: int) -> bool:
    with transaction.atomic():
        free = RefundRequest.objects.select_for_update(no_key=True, skip_locked=True).only("pk")
        return free.filter(pk=request_id).first() is not None and seal_timeline(request_id)
