"""The test's hand on the worker process that dies where it is told to."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tests.faults.crash.points import DIED
from tests.processes import CODE, desk_env

END_SECONDS = 10


@dataclass(frozen=True)
class Worked:
    """How a worker's try went: whether it died where it was told to, and its commits and provider calls if not."""

    exit_code: int
    commits: int = 0
    calls: int = 0

    @property
    def died(self) -> bool:
        return self.exit_code == DIED


class DyingWorker:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._answer()

    def work(self, run_id: uuid.UUID, fatal: str = "") -> Worked:
        """One try of the run in a process of its own, which is gone at `fatal` (a moment as in `points_of`)."""
        answer = self._ask({"run": str(run_id), "fatal": fatal})
        return Worked(answer["exit"], answer.get("commits", 0), answer.get("calls", 0))

    def work_until(self, run_id: uuid.UUID, frozen: str, fatal: str = "") -> int:
        """The number of the process that now sleeps at `frozen`; once awake, it is gone at `fatal`."""
        return int(self._ask({"run": str(run_id), "frozen": frozen, "fatal": fatal})["asleep"])

    def wake(self, pid: int) -> int:
        """Lets a sleeper go on to its end; its exit code."""
        return int(self._ask({"wake": pid})["exit"])

    def _ask(self, job: dict[str, Any]) -> dict[str, Any]:
        _of(self._process.stdin).write(json.dumps(job) + "\n")
        _of(self._process.stdin).flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        line = _of(self._process.stdout).readline()
        if not line:
            raise AssertionError("the worker process has ended by itself; its log says why")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def dying_worker(log: Path) -> Iterator[DyingWorker]:
    """On the rows of the running test, which must be committed ones."""
    env = {**desk_env("memory://"), "DJANGO_SETTINGS_MODULE": "tests.settings"}
    command = [sys.executable, "-m", "tests.faults.crash.worker_main"]
    with log.open("w") as errors:
        process = subprocess.Popen(
            command, cwd=CODE, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
        )
        try:
            yield DyingWorker(process)
        finally:
            _of(process.stdin).close()
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _of(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe
