"""The parent's side of a scratch process: starts it, hands it one job at a time, and never leaves it behind."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from pydantic import ValidationError

from agent.evaluation.job import END, READY, Job
from agent.evaluation.played import Played
from agent.evaluation.provider_use import ProviderUse, used_in
from agent.evaluation.scratch import Scratch
from agent.evaluation.scratch_environment import DATABASE, scratch_environment

logger = logging.getLogger(__name__)

START_SECONDS, END_SECONDS = 120.0, 5.0
LOG = "errors.log"
LOGGED = 4000


class ChildDied(Exception):
    """The process ended or was ended before it answered; `sentence` says so, the log says what it had to say itself.
    `used`: what its providers did until then."""

    def __init__(self, sentence: str, used: tuple[ProviderUse, ...] = ()) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.used = used


class Child:
    """One scratch process; `with Child(...) as child:` it is gone at the end of the block, however that comes.

    It is its own session, so that a Ctrl-C in the terminal is the parent's affair.
    """

    def __init__(self, scratch: Scratch) -> None:
        self._place = scratch.new_place()
        self._timed_out = False
        with (self._place / LOG).open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "play_scenarios"],
                cwd=settings.BASE_DIR,
                env=scratch_environment(self._place),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )

    def wait_until_ready(self) -> None:
        """Raises ChildDied."""
        if self._line_within(START_SECONDS).strip() != READY.encode():
            self.kill()
            raise ChildDied("The scratch process did not start.")

    def play(self, job: Job, seconds: float) -> Played:
        """Raises ChildDied when no answer comes within `seconds`; the child is gone then."""
        stdin = self.process.stdin
        assert stdin is not None
        try:
            stdin.write(job.model_dump_json().encode() + b"\n")
            stdin.flush()
        except OSError:
            pass  # the read below finds the child gone and says so
        line = self._line_within(seconds)
        if not line.endswith(b"\n"):
            why = f"did not answer within {seconds:g} seconds." if self._timed_out else "ended in the middle of it."
            self.kill()
            raise ChildDied(f"The scratch process {why}", used_in(self._place / DATABASE))
        try:
            played = Played.model_validate_json(line)
        except ValidationError:
            self.kill()
            raise ChildDied("The scratch process answered something else.", used_in(self._place / DATABASE)) from None
        return played.model_copy(update={"used": used_in(self._place / DATABASE)})

    def end(self) -> None:
        """No more jobs: it ends by itself, or is ended."""
        if self.process.stdin:
            with contextlib.suppress(OSError):
                self.process.stdin.write(f"{END}\n".encode())
                self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(END_SECONDS)
        self.kill()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *exc: object) -> None:
        self.kill()
        self._log_last_words()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                with contextlib.suppress(OSError):  # what nobody read any more
                    pipe.close()

    def kill(self) -> None:
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def _line_within(self, seconds: float) -> bytes:
        """A line of its answers; what came until it ended or was ended, when there is none in time."""
        self._timed_out = False
        stdout = self.process.stdout
        assert stdout is not None
        timer = threading.Timer(seconds, self._stop_waiting)
        timer.daemon = True
        timer.start()
        try:
            return stdout.readline()
        finally:
            timer.cancel()

    def _stop_waiting(self) -> None:
        self._timed_out = True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def _log_last_words(self) -> None:
        """Its place is deleted with all it wrote: what went wrong is kept in this process's log."""
        with contextlib.suppress(OSError):
            words = (self._place / LOG).read_text(errors="replace").strip()
            if words:
                logger.warning("a scratch process said: %s", words[-LOGGED:])


@contextmanager
def started_child(scratch: Scratch) -> Iterator[Child]:
    """Ready for jobs, and gone when the block ends. Raises ChildDied when it does not come up."""
    with Child(scratch) as child:
        child.wait_until_ready()
        yield child
        child.end()
