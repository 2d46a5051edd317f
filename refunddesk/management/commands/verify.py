from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agent.verify.shop import verify_shop


class Command(BaseCommand):
    help = (
        "Computes the book again: every request's chain, each refund's decision from the facts that were kept, the "
        "sums of all charges and the daily anchors. Names the first thing of a request that does not fit, and ends 1."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--photos", action="store_true", help="also read every stored picture and compare it with its digest"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        verified = verify_shop(with_files=options["photos"])
        for misfit in verified.misfits:
            self.stdout.write(misfit)
        if verified.unnamed:
            self.stdout.write(f"... and {verified.unnamed} more.")
        if not verified.fits:
            found = len(verified.misfits) + verified.unnamed
            raise CommandError(f"verify: {verified.counted}: {found} {'does' if found == 1 else 'do'} not fit")
        self.stdout.write(f"verify: {verified.counted}: all fits")
