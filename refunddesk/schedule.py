"""The beat timetable: task names and their pace in seconds."""

from __future__ import annotations

from typing import Any

TIMETABLE: dict[str, dict[str, Any]] = {
    "sweep-runs": {"task": "agent.tasks.sweep_runs", "schedule": 15.0, "options": {"expires": 15}},
    "settle-refunds": {"task": "payments.tasks.settle_in_flight", "schedule": 30.0, "options": {"expires": 30}},
    "purge-photos": {"task": "intake.tasks.purge_unused_photos", "schedule": 3600.0, "options": {"expires": 3600}},
    "pulse": {"task": "refunddesk.tasks.pulse", "schedule": 10.0, "options": {"expires": 10}},
}
