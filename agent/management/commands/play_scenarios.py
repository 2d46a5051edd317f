from __future__ import annotations

import os
import sys
from typing import IO, Any

from django.core.management.base import BaseCommand, CommandError

from agent.evaluation.job_loop import work_off_jobs
from agent.evaluation.scratch_environment import ScratchTrouble


class Command(BaseCommand):
    help = "Started by `evaluate` on a scratch database of its own: plays the scenarios that come in as lines of JSON."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        answers = take_standard_output()
        try:
            work_off_jobs(sys.stdin.buffer, answers)
        except ScratchTrouble as trouble:
            raise CommandError(trouble.sentence) from trouble


def take_standard_output() -> IO[str]:
    """Answers go out alone: whatever else this process prints goes to its error stream."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    return answers
