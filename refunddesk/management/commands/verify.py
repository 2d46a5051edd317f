from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agent.anchor import noted
from agent.models import ChainAnchor
from agent.verify.anchors import is_noted_anchor, not_anchored
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
        parser.add_argument(
            "--held",
            action="append",
            default=[],
            metavar="DAY:HASH",
            help="an anchor that was kept outside the database must still be in it; may be given several times",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        verified = verify_shop(with_files=options["photos"], held=_read_held(options["held"]))
        for misfit in verified.misfits:
            self.stdout.write(misfit)
        if verified.unnamed:
            self.stdout.write(f"... and {verified.unnamed} more.")
        if not verified.fits:
            found = len(verified.misfits) + verified.unnamed
            raise CommandError(f"verify: {verified.counted}: {found} {'does' if found == 1 else 'do'} not fit")
        self.stdout.write(f"verify: {verified.counted}: all fits")
        newest = ChainAnchor.objects.order_by("-day").first()
        if newest is not None:
            self.stdout.write(f"newest anchor, to be kept elsewhere: {noted(newest)}")
        open_end = not_anchored()
        if open_end:
            self.stdout.write(open_end)


def _read_held(given: list[str]) -> list[str]:
    held = [one.strip().lower() for one in given]
    for one in held:
        if not is_noted_anchor(one):
            sentence = "Write it as verify and the log do: a day like 2026-11-29, a colon, and 64 hex digits."
            raise CommandError(f"“{one[:80]}” is no anchor. {sentence}")
    return held
