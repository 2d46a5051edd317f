"""What a review can come to and the evidence it pays on: plain facts between the loop, the tools and the jobs."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Literal

from intake.rules import Verdict

PhotoVerdict = Literal["yes", "no", "unclear"]


@dataclass(frozen=True)
class PhotoEvidence:
    """What the separate look at the pictures said in this run; `verdict` is None while nothing was inspected."""

    verdict: PhotoVerdict | None = None
    addresses_reviewer: bool = False
    explanation: str = ""


@dataclass(frozen=True)
class Point:
    """One finding or concern. `step` is the position of the step it rests on; None: the model's own opinion."""

    text: str
    step: int | None = None
    source: Literal["model", "rule", "code"] = "model"


@dataclass(frozen=True)
class Handover:
    """The review ends with staff. `failed_rules` as the last issue_refund of this run (or the code) found them;
    `rules_step` is the position of that step, None when no step of the run asked the rules. `counter_case` is the
    strongest reason against the recommendation, `would_change` the one fact that would change it.
    """

    recommendation: str
    reasoning: str = ""
    findings: tuple[Point, ...] = ()
    concerns: tuple[Point, ...] = ()
    draft_question: str = ""
    failed_rules: tuple[Verdict, ...] = ()
    rules_step: int | None = None
    counter_case: Point | None = None
    would_change: str = ""


@dataclass(frozen=True)
class Reserved:
    """Money was reserved and the request stands in `refunding`; the job asks the provider and finishes."""

    refund_id: uuid.UUID
    verdicts: tuple[Verdict, ...] = field(default=())


@dataclass(frozen=True)
class Blocked:
    """Not paid: every automatic rule that asks for a person."""

    failed: tuple[Verdict, ...]
    verdicts: tuple[Verdict, ...]


ReviewResult = Handover | Reserved
