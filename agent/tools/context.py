"""What every tool of one review knows and keeps: the request it is bound to, and what was found so far."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from agent.case_file import CaseFile
from agent.lease import Lease
from agent.llm.base import NO_USAGE, Reply, Usage
from agent.llm.spending import Spending, spent_before
from agent.models import Run
from agent.outcomes import Handover, PhotoEvidence, Point, Reserved
from agent.pay import judge_now
from intake.models import RefundRequest
from intake.rules import Verdict, for_staff

NOTHING_SEEN = PhotoEvidence()


@dataclass(frozen=True)
class Outcome:
    """What one call came to: `result` for the model, `title` and `detail` for the timeline, `ending` ends the review,
    `usage` are the tokens of model calls the tool made itself, `answered` the answer of the last of them."""

    result: dict[str, Any]
    title: str
    detail: str = ""
    ending: Handover | Reserved | None = None
    failed: bool = False
    usage: Usage = NO_USAGE
    answered: Reply | None = None


@dataclass
class ReviewContext:
    """`deadline` is a moment of `time.monotonic()`. `positions`: tool name -> position of its last step in this run."""

    lease: Lease
    case: CaseFile
    may_refund: bool
    deadline: float
    evidence: PhotoEvidence = NOTHING_SEEN
    verdicts: tuple[Verdict, ...] | None = None
    looks: dict[str, Outcome] = field(default_factory=dict)
    positions: dict[str, int] = field(default_factory=dict)
    spending: Spending = field(init=False)
    answered: Reply | None = None
    extended_at: float = 0.0

    def __post_init__(self) -> None:
        self.spending = spent_before(self.lease)

    @property
    def request(self) -> RefundRequest:
        return self.case.request

    @contextmanager
    def fenced(self) -> Iterator[None]:
        """`lease.fenced()`, remembering when the lease was extended."""
        with self.lease.fenced():
            yield
        self.extended_at = time.monotonic()

    def renew(self) -> None:
        """Before a call to the outside: the run may still spend something, and its lease outlasts the call.

        Raises LimitReached, LeaseLost.
        """
        self.spending.check()
        fresh_seconds = settings.RUN_LEASE_SECONDS - settings.CALL_MAX_SECONDS - 5
        if time.monotonic() - self.extended_at > fresh_seconds:
            self.lease.renew()
            self.extended_at = time.monotonic()

    def note_on_run(self) -> None:
        """What all tries of the run have used so far and who answered last; belongs into a fenced transaction."""
        answered, used = self.answered or Reply(""), self.spending.usage
        Run.objects.filter(pk=self.lease.run_id, token=self.lease.token).update(
            provider=answered.provider[:40],
            model=answered.model[:120],
            tokens_in=used.tokens_in,
            tokens_out=used.tokens_out,
            cost_micro=used.cost_micro,
        )

    def hand_over(
        self,
        recommendation: str,
        *,
        reasoning: str,
        findings: tuple[Point, ...] = (),
        concerns: tuple[Point, ...] = (),
        draft_question: str = "",
    ) -> Handover:
        """A hand-over with the rules that ask for a person: those of the last `issue_refund` of this run, else as they
        stand now. The card puts them first among the concerns."""
        if self.verdicts is None:
            self.verdicts = judge_now(self.request.pk, self.evidence)
        return Handover(
            recommendation=recommendation,
            reasoning=reasoning,
            findings=findings,
            concerns=concerns,
            draft_question=draft_question,
            failed_rules=for_staff(self.verdicts),
        )
