"""Fifty reviews at once beside one: a worker waits for its model, and does so for many at the same time."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.announce import ring
from agent.llm.scripted_eyes import known_pictures
from agent.models import Run
from intake.models import Step
from refunddesk.demo_processes.child import Child
from tests.agent.mind.cases import make_request
from tests.openai_server import MODEL, OpenAIServer
from tests.processes import DeskPrograms, RedisServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker, pytest.mark.timeout(300)]
AT_ONCE = 50
ANSWER_SECONDS = 2.0
FEWEST_CALLS = 6
MOST_TIMES_LONGER = 1.5
MOST_MEMORY_MIB = 1024
MOST_SECONDS = 120


def reviews(count: int) -> list[Run]:
    """New requests of `count` customers whose runs nobody has rung for."""
    for _ in range(count):
        make_request("carafe", "carafe-cracked")
    return list(Run.objects.filter(status=Run.Status.QUEUED))


def seconds_until_done(runs: list[Run]) -> float:
    """From the first bell until the last run has ended."""
    started = time.perf_counter()
    for run in runs:
        assert ring(run.pk)
    while time.perf_counter() - started < MOST_SECONDS:
        if not Run.objects.filter(pk__in=[run.pk for run in runs]).exclude(status=Run.Status.DONE).exists():
            return time.perf_counter() - started
        time.sleep(0.1)
    raise AssertionError("the reviews did not end")


class PeakMemory:
    """The most resident memory (MiB) of a process and its children while the block runs."""

    def __init__(self, child: Child) -> None:
        self._pids = [child.process.pid]
        self._over = threading.Event()
        self.most_mib = 0.0
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.05):
            self.most_mib = max(self.most_mib, sum(map(_resident_mib, self._pids)))


def cpu_seconds(child: Child) -> float:
    """What the process has computed so far."""
    fields = Path(f"/proc/{child.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def fifty_at_once(worker: Child) -> tuple[float, float]:
    """How long fifty reviews took, and how many seconds of that the worker computed."""
    runs, computed = reviews(AT_ONCE), cpu_seconds(worker)
    return seconds_until_done(runs), cpu_seconds(worker) - computed


def _resident_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1024


def test_fifty_reviews_at_once_take_at_most_half_as_long_again_as_one(
    real_broker: RedisServer, programs: DeskPrograms, monkeypatch: pytest.MonkeyPatch, tell: Callable[[str], None]
) -> None:
    monkeypatch.setattr("agent.announce.ring", lambda run_id: True)  # all bells ring together, below
    known_pictures()
    with OpenAIServer(delay_seconds=ANSWER_SECONDS) as server:
        model = {"LLM_BASE_URL": server.url, "LLM_API_KEY": "any", "LLM_MODEL": MODEL, "SCRIPTED_MODEL": "never"}
        worker = programs.worker(**model)
        seconds_until_done(reviews(1))  # the worker's first pays for imports and connections, and is no yardstick
        warm = len(server.asked)
        one = seconds_until_done(reviews(1))
        asked = len(server.asked) - warm
        with PeakMemory(worker) as memory:
            fifty, computed = fifty_at_once(worker)
            if fifty > one * MOST_TIMES_LONGER:  # somebody else had the processors
                fifty, computed = fifty_at_once(worker)

    times = fifty / one
    tell(
        f"one review {one:.1f} s ({asked} calls), {AT_ONCE} at once {fifty:.1f} s: {times:.2f} times as long, "
        f"{computed:.1f} s of computing, {memory.most_mib:.0f} MiB at most"
    )
    assert asked >= FEWEST_CALLS
    assert len(server.asked) - warm - asked >= AT_ONCE * FEWEST_CALLS
    assert not Step.objects.filter(kind=Step.Kind.ERROR).exists()
    assert times <= MOST_TIMES_LONGER
    assert memory.most_mib <= MOST_MEMORY_MIB
