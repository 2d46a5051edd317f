"""Plays many trials in several scratch processes at once, and gives each result as it comes."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field

from agent.evaluation.allowance import Gate
from agent.evaluation.child import Child, ChildDied
from agent.evaluation.job import Job
from agent.evaluation.played import Played, could_not_be_played
from agent.evaluation.scratch import Scratch

logger = logging.getLogger(__name__)

# A trial holds several runs of at most RUN_MAX_SECONDS each; whoever needs longer than this does not come back.
TRIAL_SECONDS = 900.0
NOT_STARTED = "A scratch process could not be started; the log says why."
MOST_STARTS = 5


def play_all(
    scratch: Scratch, jobs: Sequence[Job], lanes: int, gate: Gate | None = None
) -> Generator[Played, None, None]:
    """One result for each job, in the order they are ready. A child that dies fails the trial it had and is replaced;
    when it dies too often its lane ends, and what no lane took is failed too. Closing the iterator ends every child.

    `gate` is looked at before each job: what it does not let through any more is not played."""
    work = _Work(gate)
    for job in jobs:
        work.jobs.put(job)
    threads = [
        threading.Thread(target=_lane, args=(scratch, work), name=f"lane-{number}", daemon=True)
        for number in range(min(lanes, len(jobs)))
    ]
    for thread in threads:
        thread.start()
    try:
        yield from _results(work, len(threads))
    finally:
        work.stop()
        for thread in threads:
            thread.join()


@dataclass
class _Work:
    """Shared by the lanes. `results` also takes None, once for each lane that ends."""

    gate: Gate | None = None
    jobs: queue.SimpleQueue[Job] = field(default_factory=queue.SimpleQueue)
    results: queue.SimpleQueue[Played | None] = field(default_factory=queue.SimpleQueue)
    lock: threading.Lock = field(default_factory=threading.Lock)
    children: list[Child] = field(default_factory=list)
    stopped: bool = False
    last_trouble: str = ""

    def start_child(self, scratch: Scratch) -> Child | None:
        """None: nobody waits for it any more."""
        with self.lock:
            if self.stopped:
                return None
            child = Child(scratch)
            self.children.append(child)
        return child

    def as_allowed(self, job: Job) -> Job:
        return job.model_copy(update={"allowance": self.gate.allowance()}) if self.gate else job

    def came(self, result: Played) -> None:
        """Counted before the next job is given."""
        if self.gate:
            self.gate.spend(result.used)
        self.results.put(result)

    def stop(self) -> None:
        with self.lock:
            self.stopped = True
            for child in self.children:
                child.kill()


def _results(work: _Work, lanes: int) -> Iterator[Played]:
    while lanes:
        result = work.results.get()
        if result is None:
            lanes -= 1
        else:
            yield result
    while not work.jobs.empty():
        job = work.jobs.get()
        yield could_not_be_played(job.scenario, job.number, work.last_trouble)


def _lane(scratch: Scratch, work: _Work) -> None:
    try:
        for _ in range(MOST_STARTS):
            child = work.start_child(scratch)
            if child is None:
                return
            with child:
                if _play_with(child, work):
                    return
    except OSError as error:  # no room for another process or its folder: what the others do not take is failed
        logger.error("a scratch process could not be started: %s", error)
        work.last_trouble = NOT_STARTED
    finally:
        work.results.put(None)


def _play_with(child: Child, work: _Work) -> bool:
    """True: no job is left. False: the child died."""
    try:
        child.wait_until_ready()
    except ChildDied as death:
        work.last_trouble = death.sentence
        return False
    while True:
        try:
            job = work.jobs.get_nowait()
        except queue.Empty:
            child.end()
            return True
        refused = work.gate.why_not() if work.gate else ""
        if refused:
            work.came(could_not_be_played(job.scenario, job.number, refused))
            continue
        try:
            work.came(child.play(work.as_allowed(job), TRIAL_SECONDS))
        except ChildDied as death:
            work.last_trouble = death.sentence
            work.came(could_not_be_played(job.scenario, job.number, death.sentence, death.used))
            return False
