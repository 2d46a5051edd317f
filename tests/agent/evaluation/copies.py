"""Copies of cases for tests, and what stands for the process that plays them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User

from agent.evaluation import run_again
from agent.evaluation.played import Played
from agent.evaluation.run_again import (
    ask_again,
)
from agent.models import Evaluation, Trial
from intake.models import RefundRequest
from intake.refusals import Refusal
from tests.agent.test_whole_cases import asks
from tests.agent.work_off import work_off
from tests.factories import CustomerFactory, RequestFactory

LEAD = ("agent.add_evaluation", "intake.view_refundrequest")
PLAYED = Played(kind="from_cases", scenario="one", passed=True, provider="scripted", model="scripted model")


def plays(monkeypatch: pytest.MonkeyPatch, play: Callable[[], Played]) -> None:
    """Stands for the scratch process."""
    monkeypatch.setattr(run_again, "play_case", lambda *args, **kwargs: play())


def closed_request() -> RefundRequest:
    return RequestFactory(status="declined")


def queued(by: User, count: int = 1, **changes: Any) -> list[Evaluation]:
    request = closed_request()
    scenario = run_again.copy_case(request).scenario.model_dump(mode="json")
    common = {"kind": "again", "request": request, "scenario": scenario, "asked_by": by, **changes}
    return [Evaluation.objects.create(**common) for _ in range(count)]


def refused(request: RefundRequest, by: User, **options: Any) -> tuple[str, str]:
    before = Evaluation.objects.count()
    with pytest.raises(Refusal) as refusal:
        ask_again(request=request, by=by, options=options)
    assert Evaluation.objects.count() == before
    return refusal.value.code, refusal.value.sentence


def state_of(evaluation: Evaluation) -> tuple[str, str]:
    evaluation.refresh_from_db()
    return evaluation.status, evaluation.trouble


def rows_of_the_shop() -> dict[str, list[dict[str, Any]]]:
    """Every row of the shop, its money and its agent, but the copies themselves."""
    models = [model for label in ("payments", "intake", "agent") for model in apps.get_app_config(label).get_models()]
    return {
        model.__name__: list(model._default_manager.order_by("pk").values())
        for model in models
        if model not in (Evaluation, Trial)
    }


def kettle_before_staff() -> RefundRequest:
    return work_off(asks(CustomerFactory(), "KTL-09", "damaged", "kettle-dented-spout"))
