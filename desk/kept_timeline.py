"""A timeline kept as JSON, made into unsaved rows, so that the desk shows it with its ordinary timeline."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from agent.models import Run
from desk.activity import MOST_STEPS, Block, blocks_of
from intake.models import RefundRequest, Step

# Two timelines may stand on one page: the positions of a kept one are names of their own.
FIRST_POSITION = 100_000
TEXTS = ("message_key", "title", "detail", "tool", "provider", "model")
NUMBERS = ("tokens_in", "tokens_out", "cost_micro", "duration_ms")


def kept_blocks(timeline: Any, *, played_at: datetime) -> list[Block]:
    """The steps as `Trial.timeline` holds them, at most MOST_STEPS; what is missing in one is left empty."""
    kept = [step for step in timeline if isinstance(step, Mapping)] if isinstance(timeline, list) else []
    kept = kept[:MOST_STEPS]
    steps = [_step(step, number, played_at) for number, step in enumerate(kept, start=1)]
    runs = _runs(step.get("run") for step in kept)
    return blocks_of(RefundRequest(customer=User(first_name="the customer")), steps, runs)


def _step(kept: Mapping[str, Any], number: int, played_at: datetime) -> Step:
    run = kept.get("run")
    name = str(kept.get("actor_name") or "")
    first, _, last = name.partition(" ")
    return Step(
        position=FIRST_POSITION + number,
        rev=FIRST_POSITION + number,
        kind=_one_of(kept.get("kind"), Step.Kind.values, Step.Kind.ACTION),
        actor=_one_of(kept.get("actor"), Step.Actor.values, Step.Actor.SYSTEM),
        state=_one_of(kept.get("state"), Step.State.values, Step.State.DONE),
        for_customer=bool(kept.get("for_customer")),
        actor_user=User(first_name=first, last_name=last) if name else None,
        run_uuid=_uuid(run.get("id")) if isinstance(run, Mapping) else None,
        arguments=kept.get("arguments"),
        result=kept.get("result"),
        skipped=kept.get("skipped") or [],
        created_at=_moment(kept.get("created_at")) or played_at,
        **{field: str(kept.get(field) or "") for field in TEXTS},
        **{field: kept.get(field) for field in NUMBERS},
    )


def _runs(kept: Iterable[Any]) -> list[Run]:
    """Each run once, in the order in which they started."""
    by_id = {one.get("id"): one for one in kept if isinstance(one, Mapping) and _uuid(one.get("id"))}
    runs = [
        Run(
            id=_uuid(key),
            trigger=_one_of(one.get("trigger"), Run.Trigger.values, Run.Trigger.REQUEST),
            status=Run.Status.DONE,
            started_at=_moment(one.get("started_at")),
            ended_at=_moment(one.get("ended_at")),
            provider=str(one.get("provider") or ""),
            model=str(one.get("model") or ""),
            tokens_in=one.get("tokens_in"),
            tokens_out=one.get("tokens_out"),
            tries=1,
        )
        for key, one in by_id.items()
    ]
    return sorted(runs, key=lambda run: run.started_at or timezone.now())


def _one_of(value: Any, known: Iterable[str], otherwise: str) -> str:
    return str(value) if value in known else otherwise


def _uuid(value: Any) -> uuid.UUID | None:
    try:
        return uuid.UUID(str(value))
    except ValueError:
        return None


def _moment(value: Any) -> datetime | None:
    """With a time zone, else nothing: the page compares it with others."""
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return moment if moment.tzinfo else None
