"""The beat timetable: task names, their pace in seconds, and the queue they wait in. Settings hand it to Celery."""

from __future__ import annotations

from typing import Any

from celery.beat import BeatLazyFunc

from refunddesk import pulse

Timetable = dict[str, dict[str, Any]]

# Runs wait in one queue, beat's own short tasks in another with a small worker of its own: a hundred slow models at
# work must not keep the sweep waiting.
RUNS_QUEUE = "refunddesk"
CLOCK_QUEUE = "refunddesk-clock"


def timetable(sweep_seconds: int) -> Timetable:
    """A task that waited longer than its pace is dropped: the next one does its work."""
    return {
        "sweep-runs": _every(sweep_seconds, "agent.tasks.sweep_runs"),
        "settle-refunds": _every(30, "payments.tasks.settle_in_flight"),
        "seal-timelines": _every(3600, "agent.tasks.seal_timelines"),
        "anchor-day": _every(3600, "agent.tasks.anchor_day"),
        "read-missing-looks": _every(60, "intake.tasks.read_missing_looks"),
        "purge-photos": _every(3600, "intake.tasks.purge_unused_photos"),
        "purge-evaluations": _every(3600, "agent.tasks.purge_evaluations"),
        "purge-token-days": _every(3600, "agent.tasks.purge_token_days"),
        "purge-provider-events": _every(3600, "payments.tasks.purge_provider_events"),
        "clear-sessions": _every(3600, "refunddesk.tasks.clear_sessions"),
        "pulse": _every(
            pulse.EVERY_SECONDS, "refunddesk.tasks.pulse", queue=RUNS_QUEUE, args=[BeatLazyFunc(pulse.beat_gives)]
        ),
        "clock-pulse": _every(pulse.EVERY_SECONDS, "refunddesk.tasks.clock_pulse"),
    }


def _every(seconds: int, task: str, *, queue: str = CLOCK_QUEUE, **more: Any) -> dict[str, Any]:
    return {"task": task, "schedule": float(seconds), "options": {"expires": seconds, "queue": queue}, **more}
