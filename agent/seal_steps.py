"""Seals the timeline into the chain: what has ended by then can never be told otherwise unseen."""

from __future__ import annotations

from django.db.models import Q

from agent.canonical import digest_of, iso
from intake.models import Step


def seal_steps(request_id: int, *, after: int, up_to: int) -> dict[str, dict[str, str]]:
    """`steps`: position -> digest of each ended step last written at a `rev` above `after` and not above `up_to`.

    `running`: position -> digest of what never changes of each step that has not ended. Its end takes a newer `rev`, so
    that a later link seals it; a step at any other position up to here that no link has sealed was put in later.
    """
    unsealed = Q(rev__gt=after, rev__lte=up_to) | Q(state=Step.State.RUNNING)
    ended, running = {}, {}
    for step in Step.objects.filter(unsealed, request_id=request_id):
        if step.state == Step.State.RUNNING:
            running[str(step.position)] = begun_digest(step)
        else:
            ended[str(step.position)] = step_digest(step)
    return {"steps": ended, "running": running}


def step_digest(step: Step) -> str:
    """Over everything the step says, who acted, and when."""
    return digest_of(
        {
            **_begun(step),
            "rev": step.rev,
            "state": step.state,
            "title": step.title,
            "detail": step.detail,
            "result": step.result,
            "provider": step.provider,
            "model": step.model,
            "tokens": [step.tokens_in, step.tokens_out],
            "duration_ms": step.duration_ms,
            **_sealed_since_added(step),
        }
    )


def begun_digest(step: Step) -> str:
    """Over what the step says from its beginning to its end."""
    return digest_of(_begun(step))


def _begun(step: Step) -> dict[str, object]:
    return {
        "position": step.position,
        "kind": step.kind,
        "actor": step.actor,
        "actor_user": step.actor_user_id,
        "for_customer": step.for_customer,
        "run": str(step.run_uuid),
        "message_key": step.message_key,
        "tool": step.tool,
        "arguments": step.arguments,
        "at": iso(step.created_at),
    }


def _sealed_since_added(step: Step) -> dict[str, object]:
    """Fields that came later count only where they say something: what was sealed before them still fits."""
    later = {"cost_micro": step.cost_micro, "skipped": step.skipped or None}
    return {name: value for name, value in later.items() if value is not None}
