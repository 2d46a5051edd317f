"""Copies of cases and the workers that play them: several at once, real ones, killed ones."""

from __future__ import annotations

import os
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.utils import timezone

from agent.evaluation import signs_of_life
from agent.evaluation.played import Played
from agent.evaluation.run_again import (
    LOST,
    MOST_AT_ONCE,
    ask_again,
    end_lost,
    play_again,
    ring_waiting,
)
from agent.evaluation.signs_of_life import SILENT_AFTER
from agent.models import Evaluation, Trial
from payments.models import Charge, Refund
from tests.agent.evaluation.copies import (
    PLAYED,
    kettle_before_staff,
    plays,
    queued,
    state_of,
)
from tests.agent.evaluation.left_running import wait_for_count
from tests.processes import DeskPrograms, RedisServer, wait_until

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(180)]


@pytest.mark.django_db(transaction=True)
def test_of_six_workers_at_once_two_play(lead: User, bells: list[uuid.UUID], monkeypatch: pytest.MonkeyPatch) -> None:
    at_work, most, counting = [0], [0], threading.Lock()

    def play() -> Played:
        with counting:
            at_work[0] += 1
            most[0] = max(most[0], at_work[0])
        time.sleep(0.4)
        with counting:
            at_work[0] -= 1
        return PLAYED

    plays(monkeypatch, play)
    together = threading.Barrier(6)

    def work(evaluation: Evaluation) -> None:
        together.wait()
        try:
            play_again(evaluation.pk)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work, args=[one]) for one in queued(lead, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] == MOST_AT_ONCE
    assert Evaluation.objects.filter(status="done").count() == MOST_AT_ONCE
    assert Evaluation.objects.filter(status="queued").count() == 6 - MOST_AT_ONCE


@pytest.mark.worker
@pytest.mark.django_db(transaction=True)
def test_a_real_worker_plays_a_copy_and_one_that_is_killed_leaves_it_to_be_started_again(
    lead: User, real_broker: RedisServer, programs: DeskPrograms
) -> None:
    request = kettle_before_staff()
    stood = (request.status, request.rev)
    slow = programs.worker(SCRIPTED_MODEL_DELAY_SECONDS="20")
    killed = ask_again(request=request, by=lead, options={"policy": {"auto_refund_limit_minor": 20_000}})
    wait_until(lambda: state_of(killed)[0] == "running", 20, "the worker has it")
    slow.end(grace_seconds=0)
    assert end_lost(timezone.now() + SILENT_AFTER + timedelta(seconds=5)) == 1
    assert state_of(killed) == ("failed", LOST)

    programs.worker()
    again = ask_again(request=request, by=lead, options=killed.options)
    wait_until(lambda: state_of(again)[0] != "running" and state_of(again)[0] != "queued", 60, "it was played")

    assert state_of(again) == ("done", "")
    assert Trial.objects.get().got["paid_minor"] == 12_900
    request.refresh_from_db()
    assert (request.status, request.rev) == stood
    assert (Refund.objects.count(), Charge.objects.get().reserved_minor) == (0, 0)


@pytest.mark.worker
@pytest.mark.django_db(transaction=True)
def test_the_places_of_a_killed_worker_are_free_soon_and_those_of_a_slow_one_stay_taken(
    lead: User,
    real_broker: RedisServer,
    programs: DeskPrograms,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    tell: Callable[[str], None],
) -> None:
    monkeypatch.setattr(signs_of_life, "SILENT_AFTER", timedelta(seconds=3 * signs_of_life.EVERY_SECONDS))
    request = kettle_before_staff()
    slow = programs.worker(TMPDIR=str(tmp_path))
    first, second, third = (ask_again(request=request, by=lead, options={}) for _ in range(3))
    with frozen(wait_for_count(tmp_path, 2)):
        time.sleep(4 * signs_of_life.EVERY_SECONDS)
        assert end_lost() == 0
        assert state_of(first)[0] == state_of(second)[0] == "running"

        slow.end(grace_seconds=0)
        before = time.monotonic()
        wait_until(lambda: end_lost() >= 0 and Evaluation.objects.filter(status="failed").count() == 2, 30, "both lost")
        tell(f"both places were free {time.monotonic() - before:.1f} s after the worker was killed")

    programs.worker()
    ring_waiting()
    wait_until(lambda: state_of(third)[0] == "done", 90, "the third has had a place")
    assert state_of(first) == state_of(second) == ("failed", LOST)


@contextmanager
def frozen(processes: list[int]) -> Iterator[None]:
    """Copies that are played for as long as it takes; gone at the end."""
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
