"""Seals the timeline into the chain: what has ended by then can never be told otherwise unseen."""

from __future__ import annotations

from agent.canonical import digest_of, iso
from intake.models import Step


def seal_steps(request_id: int, *, after: int, up_to: int) -> dict[str, str]:
    """Position -> digest of each ended step last written at a `rev` above `after` and not above `up_to`.

    A running step is left out: its end takes a newer `rev`, so that a later link seals it.
    """
    steps = Step.objects.filter(request_id=request_id, rev__gt=after, rev__lte=up_to)
    return {str(step.position): step_digest(step) for step in steps if step.state != Step.State.RUNNING}


def step_digest(step: Step) -> str:
    """Over everything the step says, who acted, and when."""
    return digest_of(
        {
            "position": step.position,
            "rev": step.rev,
            "kind": step.kind,
            "actor": step.actor,
            "actor_user": step.actor_user_id,
            "for_customer": step.for_customer,
            "run": str(step.run_uuid),
            "message_key": step.message_key,
            "state": step.state,
            "title": step.title,
            "detail": step.detail,
            "tool": step.tool,
            "arguments": step.arguments,
            "result": step.result,
            "provider": step.provider,
            "model": step.model,
            "tokens": [step.tokens_in, step.tokens_out],
            "duration_ms": step.duration_ms,
            "at": iso(step.created_at),
            **_sealed_since_added(step),
        }
    )


def _sealed_since_added(step: Step) -> dict[str, object]:
    """Fields that came later count only where they say something: what was sealed before them still fits."""
    later = {"cost_micro": step.cost_micro, "skipped": step.skipped or None}
    return {name: value for name, value in later.items() if value is not None}
