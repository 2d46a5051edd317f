"""`manage.py import_orders`: brings the shop's real orders in, from a file or from another program."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from refunddesk.order_import.importer import Importer, Taken
from refunddesk.order_import.read_file import STANDARD_INPUT, UnreadableFile, read_orders
from refunddesk.order_import.refused import Refused


class Command(BaseCommand):
    help = (
        "Adds the orders of a JSON list with their customers, lines and charges, and to orders that are there what "
        "happened since. Refuses an order that contradicts the book, takes the others, and ends 1 if any was refused."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help=f"the JSON file; `{STANDARD_INPUT}`: standard input")
        parser.add_argument("--dry-run", action="store_true", help="say what would be done, and write nothing")
        parser.add_argument(
            "--ledger-is-real",
            action="store_true",
            help="outside the demo: yes, take charges of provider ledger, whose refunds only stand in the shop's own "
            "book and move no money",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            orders = read_orders(options["file"])
        except UnreadableFile as error:
            raise CommandError(f"{error} Nothing was changed.") from error
        importer = Importer(ledger_is_real=options["ledger_is_real"], dry_run=options["dry_run"])
        taken: Counter[Taken] = Counter()
        for place, raw in enumerate(orders, start=1):
            try:
                taken[importer.take(raw)] += 1
            except Refused as refused:
                self.stdout.write(f"{_name(raw, place)}, {refused}")
        self._report(taken, len(orders), dry_run=options["dry_run"])

    def _report(self, taken: Counter[Taken], orders: int, *, dry_run: bool) -> None:
        refused = orders - taken.total()
        counted = ", ".join(f"{one} {taken[one]}" for one in Taken)
        sentence = f"Orders read: {orders}; {counted}, refused {refused}."
        if dry_run:
            sentence += " This was a dry run: nothing was written."
        if refused:
            raise CommandError(sentence)
        self.stdout.write(sentence)


def _name(raw: Any, place: int) -> str:
    """By its number where it has one; else by its place in the file."""
    number = raw.get("number") if isinstance(raw, dict) else None
    readable = isinstance(number, str) and number.isprintable() and number.strip()
    return f"Order {number.strip()[:40]}" if readable and isinstance(number, str) else f"Order {place} of the file"
