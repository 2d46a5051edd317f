"""The scratch process's side: takes one job after another, each on a fresh copy of the template, until none comes."""

from __future__ import annotations

import logging
import os
import queue
import shutil
import threading
from pathlib import Path
from typing import IO

from django.conf import settings
from django.db import connections
from django.utils import timezone

from agent.evaluation.job import END, READY, Job
from agent.evaluation.play_here import play_here
from agent.evaluation.played import Played, could_not_be_played
from agent.evaluation.scratch_environment import must_be_scratch
from agent.facts import shop_day
from agent.llm.choose import warm_up

logger = logging.getLogger(__name__)

WENT_WRONG = "Something went wrong in the program; the log says what."


def work_off_jobs(jobs: IO[bytes], answers: IO[str]) -> None:
    """Says `ready`, then answers each line of `jobs` with one line: a Played as JSON. Raises ScratchTrouble."""
    database = must_be_scratch(settings.DATABASES)
    shop = ScratchShop(database)
    warm_up()
    answers.write(f"{READY}\n")
    waiting = _Waiting(jobs, database.parent)
    while (line := waiting.next_line()) is not None:
        job = Job.model_validate_json(line)
        answers.write(f"{_play(job, shop).model_dump_json()}\n")


class ScratchShop:
    """The database file and the photos of this process. `empty` puts the copy of the template back."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._fresh = database.with_suffix(".fresh")
        shutil.copyfile(database, self._fresh)

    def empty(self) -> None:
        connections.close_all()
        for leftover in (f"{self._database}-wal", f"{self._database}-shm"):
            Path(leftover).unlink(missing_ok=True)
        shutil.copyfile(self._fresh, self._database)
        shutil.rmtree(settings.PHOTO_DIR, ignore_errors=True)


class _Waiting:
    """Lines as they come. When the parent goes away in the middle of a job, this process ends on the spot."""

    def __init__(self, jobs: IO[bytes], place: Path) -> None:
        self._place = place
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._playing = threading.Event()
        threading.Thread(target=self._read, args=(jobs,), name="jobs", daemon=True).start()

    def next_line(self) -> bytes | None:
        self._playing.clear()
        line = self._lines.get()
        self._playing.set()
        return line

    def _read(self, jobs: IO[bytes]) -> None:
        for line in jobs:
            if line.strip() == END.encode():
                self._lines.put(None)
                return
            self._lines.put(line)
        # A parent that is gone deletes neither the photos of the copied case nor its rows.
        shutil.rmtree(self._place, ignore_errors=True)
        if self._playing.is_set():
            os._exit(1)
        self._lines.put(None)


def _play(job: Job, shop: ScratchShop) -> Played:
    """Days are counted from one moment: a play that passed midnight, shop time, is played once more."""
    for _ in range(2):
        shop.empty()
        day = shop_day(timezone.now())
        try:
            played = play_here(job.scenario, job.number, job.options, job.pictures(), job.allowance)
        except Exception:  # whatever a scenario runs into, the next one is played
            logger.exception("%s %s", job.scenario.kind, job.scenario.name)
            played = could_not_be_played(job.scenario, job.number, WENT_WRONG)
        if shop_day(timezone.now()) == day:
            break
    return played
