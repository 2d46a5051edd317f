"""A request's book: each link keeps what was known of one fact and the hash of the link before it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from agent.canonical import digest_of, iso
from agent.models import ChainRecord
from agent.seal_rows import seal_rows
from agent.seal_steps import seal_steps
from intake.models import RefundRequest

NOTHING_BEFORE = "0" * 64


def append_link(
    request_id: int, kind: ChainRecord.Kind, subject: object, facts: Mapping[str, Any], *, at: datetime | None = None
) -> ChainRecord:
    """Adds the link of the row with the key `subject`; `facts` are JSON values. `at`: when it was, by default now.

    Belongs into the transaction that writes the row: the request's row stays locked until its end. The link also
    seals the steps that have ended since the link before, and the rows of what people said and noted.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("A link is written inside the transaction of its fact.")
    moment = timezone.now() if at is None else at
    request = RefundRequest.objects.select_for_update(no_key=True).only("uuid", "rev").get(pk=request_id)
    last = ChainRecord.objects.filter(request_id=request_id).order_by("-sequence").first()
    sequence, previous = (1, NOTHING_BEFORE) if last is None else (last.sequence + 1, last.hash)
    sealed_rev = 0 if last is None else last.facts["timeline"]["rev"]
    whole = {
        **facts,
        "case": str(request.uuid),
        "at": iso(moment),
        "timeline": {"rev": request.rev, **seal_steps(request_id, after=sealed_rev, up_to=request.rev)},
        "rows": seal_rows(request_id),
    }
    return ChainRecord.objects.create(
        request_id=request_id,
        sequence=sequence,
        kind=kind,
        subject=str(subject),
        facts=whole,
        previous_hash=previous,
        hash=link_hash(sequence, kind, str(subject), whole, previous),
        created_at=moment,
    )


def link_hash(sequence: int, kind: str, subject: str, facts: Mapping[str, Any], previous_hash: str) -> str:
    """SHA-256 over the link as canonical JSON."""
    link = {"sequence": sequence, "kind": kind, "subject": subject, "facts": facts, "previous": previous_hash}
    return digest_of(link)
