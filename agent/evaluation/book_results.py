"""Keeps a measuring in the shop's own database while it goes on: its row, its trials as they come, its scores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.utils import timezone

from agent.evaluation.options import Options
from agent.evaluation.played import Played
from agent.evaluation.provider_use import ProviderUse
from agent.evaluation.score import Scores
from agent.llm.token_ledger import today
from agent.llm.used import Used
from agent.models import Evaluation, Trial

ROWS_AT_A_TIME = 50
# No measuring takes that long: whoever began it was killed.
FORGOTTEN_AFTER = timedelta(days=1)
TROUBLE_LENGTH = 300


class Book:
    """One Evaluation of kind `suite`. Nothing else of the shop is written."""

    def __init__(self, options: Options, *, only: list[str], trials: int, folder: str = "") -> None:
        """`folder`: the name of another folder of scenarios than the house's own."""
        _give_up_on_forgotten()
        changed: dict[str, Any] = options.model_dump(exclude_defaults=True)
        changed |= {name: value for name, value in (("only", only), ("folder", folder)) if value}
        self.evaluation = Evaluation.objects.create(
            kind=Evaluation.Kind.SUITE,
            status=Evaluation.Status.RUNNING,
            options=changed,
            trials=trials,
            started_at=timezone.now(),
        )
        self._waiting: list[Played] = []
        self._used: dict[str, dict[str, Used]] = {}

    def add(self, played: Played) -> None:
        self._waiting.append(played)
        if played.used:
            self._count(played.used)
        if len(self._waiting) >= ROWS_AT_A_TIME:
            self._write()

    def done(self, scores: Scores, answered: Played | None) -> None:
        """`answered`: a result that says which model it was."""
        self._write()
        names = {"provider": "", "model": "", "prompt_version": ""}
        if answered:
            names = {name: getattr(answered, name) for name in names}
        self._end(Evaluation.Status.DONE, scores=scores | self._kept_use(), **names)

    def failed(self, why: str) -> None:
        """What came until then is kept."""
        self._write()
        self._end(Evaluation.Status.FAILED, trouble=why[:TROUBLE_LENGTH])

    def _count(self, used: Iterable[ProviderUse]) -> None:
        """Kept at once: the shop's own runs are held to the same limits in this minute."""
        of_today = self._used.setdefault(today().isoformat(), {})
        for use in used:
            of_today[use.provider] = of_today.get(use.provider, Used()) + use.numbers
        Evaluation.objects.filter(pk=self.evaluation.pk).update(scores=self._kept_use())

    def _kept_use(self) -> dict[str, Any]:
        """As `agent.llm.evaluation_use` reads it; nothing where only free providers were asked."""
        days = {
            day: {provider: asdict(numbers) for provider, numbers in by_name.items()}
            for day, by_name in self._used.items()
        }
        return {"used": days} if days else {}

    def _write(self) -> None:
        Trial.objects.bulk_create([played.as_row(self.evaluation) for played in self._waiting])
        self._waiting.clear()

    def _end(self, status: Evaluation.Status, **changes: Any) -> None:
        running = Evaluation.objects.filter(pk=self.evaluation.pk, status=Evaluation.Status.RUNNING)
        running.update(status=status, ended_at=timezone.now(), **changes)


def _give_up_on_forgotten() -> None:
    running = Evaluation.objects.filter(kind=Evaluation.Kind.SUITE, status=Evaluation.Status.RUNNING)
    forgotten = running.filter(created_at__lt=timezone.now() - FORGOTTEN_AFTER)
    forgotten.update(status=Evaluation.Status.FAILED, trouble="It never came to its end.", ended_at=timezone.now())
