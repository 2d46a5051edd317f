"""Writes the timeline. Each write takes the request's next `rev` under its row lock and is announced after commit."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F

from intake import live
from intake.models import RefundRequest, Step

TITLE_LENGTH = 160
DETAIL_LENGTH = 2000


@dataclass(frozen=True)
class Entry:
    """What a step says. `title` and `detail` are shortened to their limits; the rest is as in `Step`."""

    kind: Step.Kind
    actor: Step.Actor
    title: str
    detail: str = ""
    for_customer: bool = False
    actor_user: User | None = None
    run_uuid: uuid.UUID | None = None
    message_key: str = ""
    state: Step.State = Step.State.DONE
    tool: str = ""
    arguments: Any = None
    result: Any = None
    provider: str = ""
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_micro: int | None = None
    skipped: list[dict[str, str]] = field(default_factory=list)
    duration_ms: int | None = None


def write_step(request_id: int, entry: Entry) -> Step:
    """Adds a step. Must run inside a transaction; the request's row stays locked until its end."""
    rev = _next_rev(request_id)
    step = Step.objects.create(
        request_id=request_id,
        rev=rev,
        position=rev,
        kind=entry.kind,
        actor=entry.actor,
        actor_user=entry.actor_user,
        for_customer=entry.for_customer,
        run_uuid=entry.run_uuid,
        message_key=entry.message_key,
        state=entry.state,
        title=shorten(entry.title, TITLE_LENGTH),
        detail=shorten(entry.detail, DETAIL_LENGTH),
        tool=entry.tool,
        arguments=entry.arguments,
        result=entry.result,
        provider=entry.provider,
        model=entry.model,
        tokens_in=entry.tokens_in,
        tokens_out=entry.tokens_out,
        cost_micro=entry.cost_micro,
        skipped=entry.skipped,
        duration_ms=entry.duration_ms,
    )
    live.announce_after_commit(request_id, rev, for_customer=entry.for_customer)
    return step


def finish_step(step_id: int, **changes: Any) -> None:
    """Ends a step that was saved as `running`; `changes` are fields of `Step`. Only a running step is changed."""
    step = Step.objects.only("request_id", "for_customer").get(pk=step_id)
    rev = _next_rev(step.request_id)
    changes.setdefault("state", Step.State.DONE)
    if "title" in changes:
        changes["title"] = shorten(changes["title"], TITLE_LENGTH)
    if "detail" in changes:
        changes["detail"] = shorten(changes["detail"], DETAIL_LENGTH)
    Step.objects.filter(pk=step_id, state=Step.State.RUNNING).update(rev=rev, **changes)
    live.announce_after_commit(step.request_id, rev, for_customer=step.for_customer)


def shorten(text: str, length: int) -> str:
    """`text` cut to `length` characters, with an ellipsis where something is missing."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def _next_rev(request_id: int) -> int:
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("A step is written inside the transaction of what it tells.")
    RefundRequest.objects.filter(pk=request_id).update(rev=F("rev") + 1)
    return RefundRequest.objects.values_list("rev", flat=True).get(pk=request_id)
