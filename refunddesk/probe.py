"""Asks a part whether it works in a thread of its own, so that a part that hangs never holds up who asks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


class Probe(Generic[Answer]):
    """One question at a time: whoever asks meanwhile gets the same answer, so a part that hangs holds one thread."""

    def __init__(self, name: str, ask: Callable[[], Answer]) -> None:
        self._name = name
        self._ask = ask
        self._lock = threading.Lock()
        self._asked: Future[Answer] | None = None

    def start(self) -> Future[Answer]:
        with self._lock:
            if self._asked is None or self._asked.done():
                self._asked = Future()
                args = (self._asked,)
                threading.Thread(target=self._answer, args=args, name=f"probe-{self._name}", daemon=True).start()
            return self._asked

    def _answer(self, future: Future[Answer]) -> None:
        try:
            future.set_result(self._ask())
        except Exception as error:  # whatever goes wrong is the answer
            future.set_exception(error)
