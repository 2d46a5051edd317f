from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from agent.models import Run
from intake.models import RefundRequest, Return
from refunddesk.tour import facts
from tests.factories import RequestFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def rung(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    calls: list[object] = []
    monkeypatch.setattr("refunddesk.tour.facts.ring", calls.append)
    return calls


def awaited(code: str) -> tuple[RefundRequest, Run]:
    """A request that awaits its return, and the run of the first check, which the return's own row started."""
    request = RequestFactory.create(status="awaiting_return")
    later = timezone.now() + timedelta(days=7)
    parcel = Return.objects.create(request=request, code=code, amount_minor=24900, ship_by=later, check_at=later)
    return request, Run.objects.get(key=f"chk:{parcel.pk}:1")


def test_only_the_checks_of_the_given_request_come_due(rung: list[object]) -> None:
    own, own_run = awaited("RMA-AAAAAA")
    _, other_run = awaited("RMA-BBBBBB")
    assert facts.make_check_due(str(own.uuid))
    assert Run.objects.get(pk=own_run.pk).due_at <= timezone.now()
    assert Run.objects.get(pk=other_run.pk).due_at == other_run.due_at
    assert rung == [own_run.pk]


def test_without_a_planned_check_nothing_is_moved(rung: list[object]) -> None:
    request = RequestFactory.create()
    assert not facts.make_check_due(str(request.uuid))
    assert rung == []


def test_a_request_of_another_database_is_noticed() -> None:
    request = RequestFactory.create()
    assert facts.request_is_here(str(request.uuid))
    assert not facts.request_is_here("00000000-0000-4000-8000-000000000000")
