"""Watches the open house: a worker that died or takes no more tasks is started again, anything else ends the demo."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from refunddesk.demo_processes.answers import health_at
from refunddesk.demo_processes.house import WORKERS, House
from refunddesk.demo_processes.opening import must_run
from refunddesk.demo_processes.refusal import DemoRefused
from refunddesk.demo_processes.stop_signals import StopSignals
from refunddesk.pulse import CLOCK_SILENT

LOOK_SECONDS = 0.2
HEALTH_EVERY_SECONDS = 10
RESTARTS_PER_MINUTE = 5


class Watch:
    def __init__(self, house: House, stop: StopSignals, say: Callable[[str], None]) -> None:
        self._house = house
        self._stop = stop
        self._say = say
        self._restarts: deque[float] = deque(maxlen=RESTARTS_PER_MINUTE)

    def until_asked_to_stop(self) -> None:
        """Raises DemoRefused when a part ended that is not started again."""
        next_health = time.monotonic() + HEALTH_EVERY_SECONDS
        while not self._stop.asked.wait(LOOK_SECONDS):
            for name in WORKERS:
                worker = self._house.programs[name]
                if not worker.running:
                    self._start_worker_again(name, f"The {name} ended by itself ({worker.how_it_ended})")
            must_run(self._house)
            if time.monotonic() >= next_health:
                self._look_after_a_stuck_worker()
                next_health = time.monotonic() + HEALTH_EVERY_SECONDS

    def _look_after_a_stuck_worker(self) -> None:
        parts = health_at(self._house.place.port)
        if parts.get("broker") == parts.get("beat") == "ok" and parts.get("worker", "ok") != "ok":
            name = "clock" if parts["worker"].startswith(CLOCK_SILENT) else "worker"
            self._start_worker_again(name, f"The {name} takes no tasks ({parts['worker']})")

    def _start_worker_again(self, name: str, reason: str) -> None:
        now = time.monotonic()
        if len(self._restarts) == RESTARTS_PER_MINUTE and now - self._restarts[0] < 60:
            raise DemoRefused(f"{reason}, for the {RESTARTS_PER_MINUTE + 1}th time within a minute.")
        self._restarts.append(now)
        self._house.start_worker_again(name)
        self._say(f"{reason}; a new one is started. Its log: {self._house.programs[name].log}")
