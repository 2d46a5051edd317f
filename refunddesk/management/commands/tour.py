from __future__ import annotations

import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from refunddesk.demo_processes.port_file import port_of_the_demo
from refunddesk.management.whole_number import up_to
from refunddesk.tour.door import Door, NotReached, Refused
from refunddesk.tour.play import CannotStart, Ending, check_first_day, play, print_endings
from refunddesk.tour.screen import Screen
from refunddesk.tour.stage import Stage

SECONDS_TO_BE_READY = 30.0
MOST_PATIENCE = 3600


class Command(BaseCommand):
    help = "Plays the ten demo stories against a running demo; ends 0 only if every story ended as it should."

    def add_arguments(self, parser: ArgumentParser) -> None:
        here = f"http://127.0.0.1:{port_of_the_demo()}"
        parser.add_argument("--url", default=here, help=f"where the demo answers (default {here})")
        parser.add_argument(
            "--patience",
            type=up_to(MOST_PATIENCE),
            default=180,
            metavar="SECONDS",
            help="longest wait for one thing (default 180)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO:
            raise CommandError("The tour plays with the demo shop and runs only in demo mode (DEMO is off here).")
        screen = Screen(self.stdout)
        with Door(options["url"], settings.DEMO_PASSWORD) as door:
            try:
                wait_until_ready(door)
                check_first_day(door)
            except (CannotStart, NotReached, Refused) as error:
                raise CommandError(str(error)) from error
            endings = list(play(Stage(door, screen, options["patience"])))
        print_endings(screen, endings)
        end(endings)


def wait_until_ready(door: Door) -> None:
    """Raises CannotStart when a part of the demo does not answer after a while."""
    until = time.monotonic() + SECONDS_TO_BE_READY
    while True:
        status, parts = door.health()
        if status == 200:
            return
        if time.monotonic() > until:
            away = ", ".join(name for name, state in parts.items() if state != "ok") or "the demo"
            raise CannotStart(f"Not everything is up: {away} does not answer. `manage.py doctor` says more.")
        time.sleep(1)


def end(endings: list[Ending]) -> None:
    bad = [str(ending.story.number) for ending in endings if not ending.good]
    if bad:
        raise CommandError(f"Not as it should: story {', '.join(bad)}.")
