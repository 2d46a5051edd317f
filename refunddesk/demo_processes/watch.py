"""Watches the open house: Redis, a worker or beat that died, and a worker that takes no more tasks, is started again; a
dead web server ends the demo."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from refunddesk.demo_processes.answers import health_at
from refunddesk.demo_processes.house import STARTED_AGAIN, House
from refunddesk.demo_processes.opening import called, last_words, pause, wait_for_redis
from refunddesk.demo_processes.refusal import DemoRefused
from refunddesk.demo_processes.stop_signals import StopSignals
from refunddesk.pulse import CLOCK_SILENT, STALE_SECONDS

LOOK_SECONDS = 0.2
HEALTH_EVERY_SECONDS = 10
RESTARTS_PER_MINUTE = 5
REDIS_TRIES, REDIS_PAUSE_SECONDS = 3, 1.0


class Watch:
    def __init__(self, house: House, stop: StopSignals, say: Callable[[str], None]) -> None:
        self._house = house
        self._stop = stop
        self._say = say
        self._restarts: deque[float] = deque(maxlen=RESTARTS_PER_MINUTE)
        self._next_health = 0.0

    def until_asked_to_stop(self) -> None:
        """Raises DemoRefused when a part ended that is not, or cannot be, started again; StopAsked."""
        self._next_health = time.monotonic() + HEALTH_EVERY_SECONDS
        while not self._stop.asked.wait(LOOK_SECONDS):
            for program in self._house.ended():
                if program.name not in STARTED_AGAIN:
                    raise DemoRefused(last_words(program))
                self._start_again(program.name, f"{called(program.name)} ended by itself ({program.how_it_ended})")
            if time.monotonic() >= self._next_health:
                self._next_health = time.monotonic() + HEALTH_EVERY_SECONDS
                self._look_after_a_stuck_worker()

    def _look_after_a_stuck_worker(self) -> None:
        parts = health_at(self._house.place.port)
        if parts.get("broker") == parts.get("beat") == "ok" and parts.get("worker", "ok") != "ok":
            name = "clock" if parts["worker"].startswith(CLOCK_SILENT) else "worker"
            self._start_again(name, f"{called(name)} takes no tasks ({parts['worker']})")

    def _start_again(self, name: str, reason: str) -> None:
        now = time.monotonic()
        if len(self._restarts) == RESTARTS_PER_MINUTE and now - self._restarts[0] < 60:
            raise DemoRefused(f"{reason}, for the {RESTARTS_PER_MINUTE + 1}th time within a minute.")
        self._restarts.append(now)
        if name == "redis":
            self._start_redis_again(reason)
        else:
            self._house.start_again(name)
        self._say(f"{reason}; a new one is started. Its log: {self._house.programs[name].log}")

    def _start_redis_again(self, reason: str) -> None:
        """The pulses are gone with the old one: nobody is called stuck before they had the time to give new ones."""
        for tries_left in reversed(range(REDIS_TRIES)):
            self._house.start_again("redis")
            try:
                wait_for_redis(self._house, self._stop)
                break
            except DemoRefused as refused:
                if not tries_left:
                    tried = f"{reason} and could not be started again, {REDIS_TRIES} times in a row."
                    raise DemoRefused(f"{tried} {refused}") from refused
                pause(self._stop, REDIS_PAUSE_SECONDS)
        self._next_health = time.monotonic() + STALE_SECONDS
