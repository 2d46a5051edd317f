from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from refunddesk.demo_shop.reset_shop import reset_demo_shop


class Command(BaseCommand):
    help = "Brings the demo shop back to its first day, dates moved to now. Runs only in demo mode."

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO:
            raise CommandError(
                "reset deletes every order and request, so it runs only in demo mode, and DEMO is off "
                "here. Nothing was changed."
            )
        reset_demo_shop()
        self.stdout.write(
            "The demo shop is back on its first day. Evaluations and cases played again went with the rest."
        )
