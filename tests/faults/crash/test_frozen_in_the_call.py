"""A worker sleeps in its call of the bank, another ends the run without an answer; the first wakes, hears, and dies."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from agent.models import Run
from agent.sweep import sweep
from agent.tasks import work
from intake.models import RefundRequest
from payments.models import Refund
from payments.providers.choose import PROVIDERS
from payments.settle_in_flight import settle_due_refunds
from tests.faults.crash.at_rest import does_not_rest, told, what_is_wrong
from tests.faults.crash.bank import FOLDER, NAME, SILENT, Bank
from tests.faults.crash.dying_worker import DyingWorker, dying_worker
from tests.faults.crash.play import opened, play_through, time_passes
from tests.faults.crash.points import DIED
from tests.faults.crash.stories import STORIES, Cast, due_runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.faults]


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bank:
    folder = tmp_path / "bank"
    folder.mkdir()
    monkeypatch.setenv(FOLDER, str(folder))
    bank = Bank(folder)
    monkeypatch.setitem(PROVIDERS, NAME, bank)
    return bank


@pytest.fixture
def worker(
    transactional_db: None, bank: Bank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[DyingWorker]:
    monkeypatch.setattr("agent.announce.ring", lambda run_id: True)
    with dying_worker(tmp_path / "worker.log") as process:
        yield process


def test_the_answer_of_a_worker_that_died_with_it_still_ends_the_request(
    worker: DyingWorker, bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = next(story for story in STORIES if story.name == "automatic refund by a bank")
    cast = Cast(bank)
    (undisturbed,) = play_through(story, cast, worker).works
    answer_is_kept = f"after commit {undisturbed.commits - 1}"  # the last one ends the run

    case = opened(story, cast)
    story.acts[0](case)
    run = Run.objects.get()
    sleeper = worker.work_until(run.pk, frozen="before call 1", fatal=answer_is_kept)
    bank.turns_to(SILENT)
    time_passes(beat=False)
    work(str(run.pk))
    assert RefundRequest.objects.get().status == "refunding"
    assert worker.wake(sleeper) == DIED

    assert (Refund.objects.get().status, RefundRequest.objects.get().status) == ("succeeded", "refunding")
    assert not due_runs().exists()
    assert does_not_rest(RefundRequest.objects.get()) == ["it waits for a refund that is not on its way"]
    settle_due_refunds(timezone.now() + timedelta(days=1))
    assert not due_runs().exists()

    monkeypatch.setattr("agent.sweep.UNHEARD_AFTER", timedelta())
    sweep()
    work(str(due_runs().get().pk))
    assert what_is_wrong(story, case) == []
    assert told(case)[-1] == "refunded"
