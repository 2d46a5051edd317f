"""Runs of the agent that are over, so that no sweep takes them up."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from agent.models import Run
from agent.prompts import PROMPT_VERSION
from intake.models import RefundRequest
from refunddesk.demo_shop.review_steps import MODEL, PROVIDER
from refunddesk.demo_shop.tape import insert


def begin_run(
    request: RefundRequest, trigger: Run.Trigger, key: str, source_id: int | UUID, *, at: datetime, worded: bool = False
) -> Run:
    """A run that was due and started at `at`; `worded`: the model had a part in it. It is saved by `end_run`."""
    run = Run(
        request=request,
        trigger=trigger,
        key=key,
        source_id=str(source_id),
        status=Run.Status.DONE,
        due_at=at,
        announced_at=at,
        tries=1,
        moved_request=trigger in (Run.Trigger.REQUEST, Run.Trigger.CHECK, Run.Trigger.RECEIPT),
        started_at=at,
        policy_number=request.policy.number,
        created_at=at,
    )
    if worded:
        run.prompt_version, run.provider, run.model = PROMPT_VERSION, PROVIDER, MODEL
    return run


def end_run(run: Run, result: str, at: datetime) -> None:
    run.result, run.ended_at = result, at
    insert(run)
