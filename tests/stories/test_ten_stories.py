"""The ten stories of the demo through the HTTP API with real web, worker, beat and Redis, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.whole_desk import WholeDesk, new_database, whole_desk

pytestmark = [pytest.mark.once, pytest.mark.worker, pytest.mark.timeout(900)]
AT_REST = """
from agent.models import Approval, Run
from intake.models import RefundRequest
from payments.models import Refund
from django.db.models import Count
busy = RefundRequest.objects.filter(status__in=["submitted", "working", "refunding"]).count()
running = Run.objects.exclude(status__in=["done", "queued"]).count()
twice = Refund.objects.filter(status="succeeded").values("request_uuid").annotate(n=Count("pk")).filter(n__gt=1).count()
print("busy", busy, "running or failed", running, "paid twice", twice)
cards = Approval.objects.all()
bare = cards.filter(counter_case__isnull=True).count() + cards.filter(would_change="").count()
print("cards", cards.count(), "with nothing against them", bare)
"""


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def desk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeDesk]:
    folder: Path = tmp_path_factory.mktemp(f"stories-{request.param}")
    on_postgres = request.param == "postgres"
    url = new_database(request.getfixturevalue("postgres_url"), "stories") if on_postgres else ""
    with whole_desk(folder, url) as desk:
        yield desk


def test_every_story_ends_as_it_should_and_a_second_tour_asks_for_a_reset(desk: WholeDesk) -> None:
    tour = desk.manage("tour", "--patience", "60")
    assert tour.returncode == 0, f"{tour.stdout}\n{tour.stderr}"

    told = desk.manage("shell", "--verbosity", "0", "-c", AT_REST).stdout
    assert "busy 0 running or failed 0 paid twice 0" in told
    assert "cards 16 with nothing against them 0" in told

    again = desk.manage("tour")
    assert again.returncode == 1
    assert "reset" in again.stderr

    assert desk.manage("reset").returncode == 0
    second = desk.manage("tour", "--patience", "60")
    assert second.returncode == 0, f"{second.stdout}\n{second.stderr}"
    errors = [line for line in _log_lines(desk) if " ERROR " in line or "Traceback" in line]
    assert errors == []


def _log_lines(desk: WholeDesk) -> list[str]:
    return [line for log in desk.house.place.logs.glob("*.log") for line in log.read_text().splitlines()]
