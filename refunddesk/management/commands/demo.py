"""`manage.py demo`: the whole desk on this machine, in one terminal."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connections

from refunddesk.demo_processes.data_folder import held, must_not_be_held
from refunddesk.demo_processes.house import House
from refunddesk.demo_processes.opening import StopAsked, open_house
from refunddesk.demo_processes.parent_death import die_with_parent
from refunddesk.demo_processes.place import Place
from refunddesk.demo_processes.port_file import kept
from refunddesk.demo_processes.refusal import DemoRefused
from refunddesk.demo_processes.stop_signals import StopSignals
from refunddesk.demo_processes.watch import Watch
from refunddesk.demo_shop.people import PRIYA, STAFF


class Command(BaseCommand):
    help = "Prepares the demo shop and starts Redis, web, workers and beat; Ctrl-C stops them all."

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO:
            raise CommandError("DEMO is off here: the demo shop has known passwords and runs only in demo mode.")
        if "MAKELEVEL" in os.environ:
            die_with_parent(os.getppid(), signal.SIGTERM)
        stop = StopSignals()
        stop.listen()
        place = Place(
            port=settings.PORT,
            data_dir=settings.DATA_DIR,
            code=settings.BASE_DIR,
            redis_url=settings.REDIS_URL_GIVEN,
            redis_url_file=settings.REDIS_URL_FILE,
        )
        try:
            _must_have_a_free_port(place)
            with held(place.data_dir, place.address), kept(place.data_dir, place.port):
                self._live(place, stop)
        except DemoRefused as refused:
            raise CommandError(str(refused)) from refused

    def _live(self, place: Place, stop: StopSignals) -> None:
        self._say(f"Pourhaven Refund Desk is starting; its data and logs are in {place.data_dir}.")
        _migrate()
        house = House(place)
        try:
            open_house(house, stop)
            self._say(_ready_line(place))
            Watch(house, stop, self._say).until_asked_to_stop()
        except StopAsked:
            pass
        finally:
            self._say("Stopping.")
            house.end(stop.hurry)
            self._say("Everything is stopped.")

    def _say(self, sentence: str) -> None:
        try:
            self.stdout.write(sentence)
            self.stdout.flush()
        except OSError:  # the terminal is gone; what runs must still be stopped
            sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
            self.stdout = self.stderr = type(self.stdout)(sys.stdout)


def _must_have_a_free_port(place: Place) -> None:
    """Asked before anything is written; a demo that lives in the folder is the better answer. Raises DemoRefused."""
    try:
        place.must_have_a_free_port()
    except DemoRefused:
        must_not_be_held(place.data_dir)
        with suppress(OSError):  # somebody has put something in meanwhile
            for folder in settings.MADE_FOLDERS:
                folder.rmdir()
        raise


def _migrate() -> None:
    try:
        call_command("migrate", interactive=False, verbosity=0)
    except DatabaseError as error:
        raise DemoRefused(f"The database cannot be prepared: {error}") from error
    finally:
        connections.close_all()


def _ready_line(place: Place) -> str:
    staff = ", ".join(person.email for person in STAFF)
    return (
        f"Ready: {place.address} (customer {PRIYA.email}) and {place.address}desk/ (staff {staff}), "
        f"password {settings.DEMO_PASSWORD}. Ctrl-C stops it all."
    )
