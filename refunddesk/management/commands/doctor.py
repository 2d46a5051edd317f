"""`manage.py doctor`: what is configured, what answers, what is missing, one line each."""

from __future__ import annotations

import logging
import sys
from typing import Any

from django.core.management.base import BaseCommand

from refunddesk.doctor.examine import examine


class Command(BaseCommand):
    help = "Says what is configured, what answers and what is missing; ends 1 when something needed is missing."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        logging.getLogger("refunddesk.health").setLevel(logging.WARNING)  # its lines say the same
        missing = 0
        for finding in examine():
            self.stdout.write(str(finding))
            missing += finding.state == "missing"
        if missing:
            sys.exit(1)
