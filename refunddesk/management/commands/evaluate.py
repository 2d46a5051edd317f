from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from agent.evaluation.allowance import Gate
from agent.evaluation.book_results import Book
from agent.evaluation.collect import SCENARIOS, BadScenario, collect
from agent.evaluation.job import Job
from agent.evaluation.options import BadOptions, Options
from agent.evaluation.play_all import play_all
from agent.evaluation.played import Played
from agent.evaluation.scenario import Scenario
from agent.evaluation.score import scores
from agent.evaluation.scratch import scratch_folder
from agent.evaluation.scratch_environment import ScratchTrouble
from agent.evaluation.table import failing, table
from agent.evaluation.wished_chain import answers_here, check_provider
from refunddesk.management.whole_number import up_to

WRONGLY_PAID, BAD_OPTIONS, NOT_MEASURED, STOPPED = 1, 2, 3, 130
# A model behind a network is waited for most of the time, but its provider limits how often it may be asked.
NETWORK_JOBS = 4
MOST_TRIALS, MOST_JOBS = 100, 64


class Command(BaseCommand):
    help = (
        "Measures the agent: plays every scenario in a scratch shop, compares the ends with the wanted ones, prints "
        "the scores and keeps them for the desk. Ends 1 if money was wrongly paid, 2 on options it cannot use, 3 if a "
        "trial could not be played."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--provider", default="", help="a name of the chain, or `scripted`; default: as configured")
        parser.add_argument("--model", default="", help="another model of that provider")
        parser.add_argument("--trials", type=up_to(MOST_TRIALS), default=1, help="times each scenario is played")
        parser.add_argument(
            "--only", action="append", default=[], metavar="KIND_OR_NAME", help="only these; may be given several times"
        )
        parser.add_argument("--folder", type=Path, default=SCENARIOS, help="another folder of scenarios")
        parser.add_argument("--jobs", type=up_to(MOST_JOBS), default=None, help="scratch processes at the same time")
        parser.add_argument("--json", action="store_true", help="print scores and failed trials as JSON")
        parser.add_argument(
            "--no-save", action="store_true", help="keep nothing in the shop's database, not even the tokens"
        )

    def handle(self, *args: Any, **given: Any) -> None:
        options = Options(provider=given["provider"], model=given["model"])
        try:
            check_provider(options)
            scenarios = collect(given["only"], given["folder"])
        except (BadOptions, BadScenario) as error:
            raise CommandError(error.sentence, returncode=BAD_OPTIONS) from error
        lanes = given["jobs"] or (NETWORK_JOBS if not answers_here(options) else os.cpu_count() or 1)
        book = None if given["no_save"] else _open_book(options, given)
        results = self._measure(options, scenarios, given["trials"], lanes, book)
        self._report(results, as_json=given["json"])

    def _measure(
        self, options: Options, scenarios: list[Scenario], trials: int, lanes: int, book: Book | None
    ) -> list[Played]:
        """Every trial's result. Raises CommandError; then the row of the measuring says why it failed."""
        results: list[Played] = []
        gate = Gate(options)
        gate.look()
        progress = _Progress(len(scenarios) * trials)
        try:
            with (
                _stop_as_interrupt(),
                scratch_folder() as scratch,
                closing(play_all(scratch, _jobs(scenarios, trials, options), lanes, gate)) as playing,
            ):
                for played in playing:
                    results.append(played)
                    if book:
                        book.add(played)
                        gate.keep(played.used)
                    if played.used:
                        gate.look()
                    progress.show(len(results))
        except KeyboardInterrupt:
            raise _failed(book, "Stopped before its end.", STOPPED) from None
        except ScratchTrouble as trouble:
            raise _failed(book, trouble.sentence, NOT_MEASURED) from trouble
        finally:
            progress.end()
        _close(book, results)
        return results

    def _report(self, results: list[Played], *, as_json: bool) -> None:
        counted = scores(results)
        if as_json:
            failed = [played.model_dump(mode="json") for played in results if not played.passed]
            self.stdout.write(json.dumps({"scores": counted, "failed": failed}, indent=1))
        else:
            lines = failing(results)
            for line in [*table(counted), *(["", *lines] if lines else [])]:
                self.stdout.write(line)
        wrong, missing = counted["all"]["wrongly_paid"]["count"], counted["all"]["not_played"]
        if wrong:
            raise CommandError(f"Money was wrongly paid in {wrong} trials.", returncode=WRONGLY_PAID)
        if missing:
            sentence = (
                f"{missing} of {len(results)} trials could not be played, so this says nothing about all of them."
            )
            raise CommandError(sentence, returncode=NOT_MEASURED)


def _jobs(scenarios: list[Scenario], trials: int, options: Options) -> list[Job]:
    """Those with a troubled provider wait a lot: they go first, so that none is left to the end alone."""
    waits_first = sorted(scenarios, key=lambda scenario: scenario.provider is None)
    return [
        Job(scenario=scenario, number=number, options=options)
        for scenario in waits_first
        for number in range(1, trials + 1)
    ]


def _open_book(options: Options, given: dict[str, Any]) -> Book:
    folder = "" if given["folder"] == SCENARIOS else given["folder"].resolve().name
    try:
        return Book(options, only=given["only"], trials=given["trials"], folder=folder)
    except DatabaseError as error:
        sentence = "The results cannot be kept: run `manage.py migrate` first, or choose --no-save."
        raise CommandError(f"{sentence} ({error})", returncode=BAD_OPTIONS) from error


def _close(book: Book | None, results: list[Played]) -> None:
    """Raises CommandError when nothing was measured."""
    if all(played.not_played for played in results):
        raise _failed(book, f"No trial could be played: {results[0].not_played}", NOT_MEASURED)
    if book:
        book.done(scores(results), next((played for played in results if played.provider), None))


def _failed(book: Book | None, sentence: str, code: int) -> CommandError:
    if book:
        book.failed(sentence)
    return CommandError(sentence, returncode=code)


STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def _stop_as_interrupt() -> Iterator[None]:
    """A polite kill and a closed terminal stop the measuring as Ctrl-C does, also where a shell in the background
    had told its children to ignore Ctrl-C."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    kept = {number: signal.signal(number, interrupt) for number in STOPS}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


class _Progress:
    """A line that counts, on a terminal only."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._shown = sys.stderr.isatty()

    def show(self, done: int) -> None:
        if self._shown:
            sys.stderr.write(f"\r{done} of {self._total} trials")
            sys.stderr.flush()

    def end(self) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * 40 + "\r")
