from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from refunddesk.demo_shop.people import CUSTOMERS, STAFF
from refunddesk.demo_shop.seed_shop import seed_demo_shop


class Command(BaseCommand):
    help = "Adds the demo shop's people, orders and resolved requests; what is there already stays as it is."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--known-passwords",
            action="store_true",
            help="outside demo mode: yes, add staff accounts whose password is printed in the README",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO and not options["known_passwords"]:
            raise CommandError(
                "The demo accounts have a password that everybody knows, and DEMO is off here. "
                "Add --known-passwords if you want them all the same. Nothing was changed."
            )
        added = seed_demo_shop()
        if not added.orders and not added.requests:
            self.stdout.write("The demo data is there already; nothing was added.")
            return
        self.stdout.write(
            f"Added {added.orders} orders and {added.requests} resolved requests. "
            f"{len(STAFF)} staff and {len(CUSTOMERS)} customers can sign in."
        )
