"""One started program with its own process group and log file; it never outlives the process that started it."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from refunddesk.demo_processes.parent_death import die_with_parent

LOG_TAIL_BYTES = 8_000


class Child:
    """Start it from the main thread: Linux ends a child with the thread that started it."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        folder: Path,
        log: Path,
        user: str | None = None,
    ) -> None:
        self.name = name
        self.log = log
        with log.open("ab") as output:
            self.process = subprocess.Popen(  # noqa: S603 - our own commands
                list(command),
                env=dict(env),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                user=user,
                preexec_fn=functools.partial(die_with_parent, os.getpid()),
            )

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def send(self, signal_number: int) -> None:
        """Signals the whole process group; a group that is gone is no error."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal_number)

    @property
    def how_it_ended(self) -> str:
        code = self.process.poll()
        return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"

    def freeze(self) -> None:
        """It keeps its connections and does nothing."""
        self.send(signal.SIGSTOP)

    def thaw(self) -> None:
        self.send(signal.SIGCONT)

    def ask_to_end(self) -> None:
        self.send(signal.SIGTERM)

    def end(self, grace_seconds: float) -> None:
        """Asks the group to end, waits, then kills what is left of it."""
        if grace_seconds:
            self.ask_to_end()
            self.wait(grace_seconds)
        self.send(signal.SIGKILL)
        self.process.wait()

    def wait(self, seconds: float) -> bool:
        """True: it ended within `seconds`."""
        until = time.monotonic() + seconds
        while self.running and time.monotonic() < until:
            time.sleep(0.02)
        return not self.running

    def last_lines(self, count: int = 8) -> str:
        """The end of its log."""
        with self.log.open("rb") as lines:
            lines.seek(0, os.SEEK_END)
            lines.seek(max(0, lines.tell() - LOG_TAIL_BYTES))
            return "\n".join(lines.read().decode(errors="replace").splitlines()[-count:])
