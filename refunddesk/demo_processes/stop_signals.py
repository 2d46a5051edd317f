"""Ctrl-C, a polite kill and a closed terminal all ask the same: stop, and on the second time at once."""

from __future__ import annotations

import signal
import threading
from types import FrameType


class StopSignals:
    """Only notes what was asked, so that no start of a program is cut in two."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.hurry = threading.Event()

    def listen(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.asked.is_set() and number == signal.SIGINT:
            self.hurry.set()
        self.asked.set()
