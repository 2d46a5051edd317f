"""A played request's steps as JSON, with everything a page needs to show them when the scratch shop is long gone."""

from __future__ import annotations

from typing import Any

from agent.models import Run
from intake.models import RefundRequest, Step

MOST_STEPS = 500
STEP_FIELDS = (
    "position",
    "kind",
    "actor",
    "title",
    "detail",
    "for_customer",
    "message_key",
    "state",
    "tool",
    "arguments",
    "result",
    "provider",
    "model",
    "tokens_in",
    "tokens_out",
    "cost_micro",
    "skipped",
    "duration_ms",
)


def timeline_of(request: RefundRequest) -> list[dict[str, Any]]:
    """Each step with its own field names, `created_at` in ISO 8601, `actor_name`, and its `run` or null."""
    runs = {run.pk: _run(run) for run in Run.objects.filter(request=request)}
    steps = Step.objects.filter(request=request).select_related("actor_user").order_by("position")[:MOST_STEPS]
    return [
        {name: getattr(step, name) for name in STEP_FIELDS}
        | {
            "created_at": step.created_at.isoformat(),
            "actor_name": step.actor_user.get_full_name() if step.actor_user else "",
            "run": runs.get(step.run_uuid) if step.run_uuid else None,
        }
        for step in steps
    ]


def _run(run: Run) -> dict[str, Any]:
    return {
        "id": str(run.pk),
        "trigger": run.trigger,
        "started_at": run.started_at.isoformat() if run.started_at else None,
        "ended_at": run.ended_at.isoformat() if run.ended_at else None,
        "provider": run.provider,
        "model": run.model,
        "tokens_in": run.tokens_in,
        "tokens_out": run.tokens_out,
    }
