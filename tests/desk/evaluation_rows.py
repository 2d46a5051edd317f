"""Evaluations, trials and copies of cases for the tests of their pages."""

from __future__ import annotations

import html
import re
import uuid
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.test import Client
from django.utils import timezone

from agent.evaluation.run_again import copy_case
from agent.evaluation.score import scores
from agent.models import Evaluation, Trial
from intake.models import Photo, RefundRequest
from tests.desk.rows import kettle_request
from tests.factories import RefundFactory

WANTED = {"status": "needs_approval", "paid_minor": 0, "recommendation": "refund", "failed_rules": ["limit"]}
GOT = {"status": "refunded", "paid_minor": 2400, "currency": "USD", "automatic": True, "recommendation": None}
RUN = {"id": str(uuid.uuid4()), "trigger": "request", "provider": "scripted", "model": "scripted model"}
STEPS = [
    {
        "position": 1,
        "kind": "trigger",
        "actor": "customer",
        "title": "You asked for a refund",
        "actor_name": "Robin Vale",
    },
    {
        "position": 2,
        "kind": "tool",
        "actor": "agent",
        "title": "Looked up order PH-50000",
        "tool": "get_order",
        "run": RUN,
    },
]


def suite(days_ago: int = 0, *, scenarios: int = 2, failed: int = 0, model: str = "scripted model") -> Evaluation:
    evaluation = Evaluation.objects.create(
        kind="suite",
        status="done",
        provider="scripted",
        model=model,
        prompt_version="2026-3",
        created_at=timezone.now() - timedelta(days=days_ago),
    )
    trials = [trial_of(evaluation, number, passed=number >= failed) for number in range(scenarios)]
    Trial.objects.bulk_create(trials)
    Evaluation.objects.filter(pk=evaluation.pk).update(scores=scores(trials))
    return evaluation


def trial_of(evaluation: Evaluation, number: int, *, passed: bool) -> Trial:
    return Trial(
        evaluation=evaluation,
        kind="limit_edges",
        scenario=f"edge-{number}",
        passed=passed,
        differences=[] if passed else ["It ended refunded; wanted was needs_approval."],
        wanted={**WANTED, "automatic": False},
        got={**WANTED, "currency": "USD", "automatic": False} if passed else GOT,
        timeline=STEPS,
        milliseconds=120,
        steps=2,
    )


def copy_of(request: RefundRequest, by: User, **changes: Any) -> Evaluation:
    scenario = copy_case(request).scenario.model_dump(mode="json")
    return Evaluation.objects.create(
        **{"kind": "again", "request": request, "scenario": scenario, "asked_by": by, **changes}
    )


def text_of(client: Client, address: str, status: int = 200) -> str:
    """What the page says, without marks and with single spaces."""
    answer = client.get(address)
    assert answer.status_code == status
    shown = re.sub(r"<(script|style).*?</\1>|<[^>]+>", " ", answer.content.decode(), flags=re.DOTALL)
    return " ".join(html.unescape(shown).split())


def closed_kettle(**changes: Any) -> RefundRequest:
    """Priya's kettle, refunded after staff had approved it."""
    request = kettle_request("refunded", **changes)
    RefundFactory(
        charge=request.line.order.charges.get(), request_uuid=request.uuid, amount_minor=12_900, status="succeeded"
    )
    return request


def with_photo(request: RefundRequest) -> RefundRequest:
    photo = Photo(owner=request.customer, request=request, digest="0" * 64, width=10, height=10)
    photo.file.save("photo.jpg", ContentFile(b"the stored picture"), save=False)
    photo.save()
    return request
