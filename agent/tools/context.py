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
from agent.llm.base import NO_USAGE, LimitReached, Reply, Usage
from agent.models import Run
from agent.outcomes import Handover, PhotoEvidence, Point, Reserved
from agent.pay import judge_now
from intake.models import RefundRequest
from intake.rules import Verdict, for_staff

NOTHING_SEEN = PhotoEvidence()
MICRO = 1_000_000


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
    """`deadline` is a moment of `time.monotonic()`. `positions`: tool name -> position of its last step in this run.
    `known_tokens` and `known_cost_micro` leave out what no provider told; `usage` is then unknown."""

    lease: Lease
    case: CaseFile
    may_refund: bool
    deadline: float
    evidence: PhotoEvidence = NOTHING_SEEN
    verdicts: tuple[Verdict, ...] | None = None
    looks: dict[str, Outcome] = field(default_factory=dict)
    positions: dict[str, int] = field(default_factory=dict)
    usage: Usage = NO_USAGE
    known_tokens: int = 0
    known_cost_micro: int = 0
    answered: Reply | None = None
    extended_at: float = 0.0

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
        self._check_limits()
        fresh_seconds = settings.RUN_LEASE_SECONDS - settings.CALL_MAX_SECONDS - 5
        if time.monotonic() - self.extended_at > fresh_seconds:
            self.lease.renew()
            self.extended_at = time.monotonic()

    def spend(self, usage: Usage) -> None:
        """Counts the tokens of a call towards the run."""
        self.usage = self.usage + usage
        self.known_tokens += (usage.tokens_in or 0) + (usage.tokens_out or 0)
        self.known_cost_micro += usage.cost_micro or 0

    def note_on_run(self) -> None:
        """What the run has used so far and who answered last; belongs into a fenced transaction."""
        answered = self.answered or Reply("")
        Run.objects.filter(pk=self.lease.run_id, token=self.lease.token).update(
            provider=answered.provider[:40],
            model=answered.model[:120],
            tokens_in=self.usage.tokens_in,
            tokens_out=self.usage.tokens_out,
            cost_micro=self.usage.cost_micro,
        )

    def _check_limits(self) -> None:
        tokens, dollars = settings.LLM_RUN_TOKENS, settings.LLM_RUN_COST
        if tokens is not None and self.known_tokens >= tokens:
            raise LimitReached(f"The review used the {tokens:,} tokens that one run may use.")
        if dollars is not None and self.known_cost_micro >= dollars * MICRO:
            raise LimitReached(f"The review cost the ${dollars} that one run may cost.")

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
