"""The demo shop is reset while runs work: what they held is gone, and they write nothing into the new day."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.storage import FileSystemStorage
from django.core.management import call_command

from agent.models import Approval, Run
from agent.tasks import work
from intake.models import Photo, RefundRequest, Step
from payments.models import Refund
from refunddesk.demo_shop.reset_shop import reset_demo_shop
from tests.factories import RequestFactory
from tests.faults.races.rows import due_run
from tests.faults.races.together import MANY, at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.faults]


def shop() -> dict[str, object]:
    """The first day, without what is new at each reset (keys and times)."""
    return {
        "requests": list(RefundRequest.objects.order_by("pk").values_list("pk", "status", "rev", "amount_minor")),
        "refunds": sorted(Refund.objects.values_list("amount_minor", "status", "automatic")),
        "cards": Approval.objects.filter(closed_at=None).count(),
        "steps": Step.objects.count(),
        "runs": sorted(Run.objects.values_list("trigger", "status")),
    }


def test_a_reset_among_working_runs_leaves_a_clean_first_day(
    staff: tuple[User, User], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Photo._meta.get_field("file"), "storage", FileSystemStorage(location=tmp_path))
    reset_demo_shop()
    first_day = shop()
    run_ids = [str(due_run(RequestFactory(), "request").pk) for _ in range(MANY - 1)]
    works = [lambda run_id=run_id: work(run_id) for run_id in run_ids]
    answers = at_once(reset_demo_shop, *works)
    assert answers == [None] * MANY
    assert shop() == first_day
    call_command("verify", verbosity=0)
