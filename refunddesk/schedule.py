"""The beat timetable: task names and their pace in seconds. Settings hand it to Celery."""

from __future__ import annotations

from typing import Any

from celery.beat import BeatLazyFunc

from refunddesk import pulse

Timetable = dict[str, dict[str, Any]]


def timetable(sweep_seconds: int) -> Timetable:
    """A task that waited longer than its pace is dropped: the next one does its work."""
    return {
        "sweep-runs": _every(sweep_seconds, "agent.tasks.sweep_runs"),
        "settle-refunds": _every(30, "payments.tasks.settle_in_flight"),
        "anchor-day": _every(3600, "agent.tasks.anchor_day"),
        "purge-photos": _every(3600, "intake.tasks.purge_unused_photos"),
        "pulse": _every(pulse.EVERY_SECONDS, "refunddesk.tasks.pulse", args=[BeatLazyFunc(pulse.beat_gives)]),
    }


def _every(seconds: int, task: str, **more: Any) -> dict[str, Any]:
    return {"task": task, "schedule": float(seconds), "options": {"expires": seconds}, **more}
