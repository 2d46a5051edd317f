from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments.reconcile import Difference, NotRepaired, compared, differences
from refunddesk.management.whole_number import up_to

DEFAULT_DAYS, MOST_DAYS = 180, 3650


class Command(BaseCommand):
    help = "Compares the refunds in the book with the provider's; prints each difference and ends 1 if one is left."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--days",
            type=up_to(MOST_DAYS),
            default=DEFAULT_DAYS,
            help=f"compare payments with news in so many days with the provider (default {DEFAULT_DAYS})",
        )
        parser.add_argument(
            "--apply",
            action="store_true",
            help="take over what the provider says and count sums anew where that sets a difference right",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        charges, refunds, at_stripe = compared(options["days"])
        open_differences = 0
        for difference in differences(options["days"]):
            self.stdout.write(f"{difference.where}: {difference.what}.")
            open_differences += self._settle(difference, apply=options["apply"])
        counted = f"Payments compared: {charges}, refunds: {refunds}, payments asked for at Stripe: {at_stripe}"
        if open_differences:
            raise CommandError(f"{counted}. Differences left: {open_differences}.")
        self.stdout.write(f"{counted}. Differences left: none.")

    def _settle(self, difference: Difference, *, apply: bool) -> int:
        """1 if the difference stays."""
        if not apply or difference.repair is None:
            self.stdout.write(f"    to do: {difference.todo}.")
            return 1
        try:
            self.stdout.write(f"    done: {difference.repair()}.")
        except NotRepaired as why:
            self.stdout.write(f"    not done: {why}.")
            return 1
        return 0
