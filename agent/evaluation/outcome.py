"""Reads from rows what came of a request that was played: its end, its timeline and what it cost."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from agent.evaluation.acts import Play
from agent.evaluation.compare import differences_of
from agent.evaluation.played import Played
from agent.evaluation.scenario import Scenario
from agent.evaluation.timeline_kept import timeline_of
from agent.models import Approval, Run
from intake.models import RefundRequest
from payments.models import LIVE_REFUND_STATUSES, Refund

ADDED = "+"
CARD_FIELDS = (
    "recommendation",
    "amount_minor",
    "findings",
    "concerns",
    "failed_rules",
    "reasoning",
    "draft_question",
    "require_return",
    "counter_case",
    "would_change",
)


def outcome_of(play: Play, scenario: Scenario, number: int, stopped: str) -> Played:
    """`stopped`: why not every act of the scenario could be done, else empty."""
    request = play.request
    request.refresh_from_db()
    runs = list(Run.objects.filter(request=request).exclude(provider="").order_by("started_at"))
    got = _end(request, runs) | {"covered": scenario.covered, "troubled": scenario.provider is not None}
    found = differences_of(scenario, got) + ([stopped] if stopped else [])
    timeline = timeline_of(request)
    return Played(
        kind=scenario.kind,
        scenario=scenario.name,
        number=number,
        passed=not found,
        differences=found,
        wanted=scenario.wanted.model_dump(mode="json"),
        got=got,
        timeline=timeline,
        tokens_in=_sum([run.tokens_in for run in runs]),
        tokens_out=_sum([run.tokens_out for run in runs]),
        cost_micro=_sum([run.cost_micro for run in runs]),
        steps=len(timeline),
        milliseconds=round(play.milliseconds),
        provider=runs[0].provider if runs else "",
        model=runs[0].model if runs else "",
        prompt_version=_prompt_version(runs[0]) if runs else "",
    )


def _prompt_version(run: Run) -> str:
    """`2026-3+` where something was added behind the instructions of version 2026-3."""
    return run.prompt_version + (ADDED if settings.REVIEW_PROMPT_ADDITION and run.prompt_version else "")


def _end(request: RefundRequest, runs: list[Run]) -> dict[str, Any]:
    refunds = list(Refund.objects.filter(request_uuid=request.uuid, status__in=LIVE_REFUND_STATUSES))
    card = Approval.objects.filter(request=request).order_by("-opened_at", "-id").first()
    return {
        "status": request.status,
        "paid_minor": sum(refund.amount_minor for refund in refunds),
        "currency": request.currency,
        "automatic": any(refund.automatic for refund in refunds),
        "recommendation": card.recommendation if card else None,
        "failed_rules": [failed["rule"] for failed in card.failed_rules] if card else [],
        "concerns": [point["text"] for point in card.concerns] if card else [],
        "card": {name: getattr(card, name) for name in CARD_FIELDS} if card else None,
        "provider": runs[-1].provider if runs else "",
        "model": runs[-1].model if runs else "",
    }


def _sum(numbers: list[int | None]) -> int | None:
    """A sum with an unknown part is unknown."""
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None
