"""The ten stories in one process: the real API and agent, each run worked off the moment it is announced."""

from __future__ import annotations

import io
import uuid
from collections.abc import Iterator

import httpx2
import pytest
from django.core.wsgi import get_wsgi_application
from pytest_django.fixtures import Settings

from agent.models import Run
from agent.tasks import work
from refunddesk.demo_shop.reset_shop import reset_demo_shop
from refunddesk.demo_shop.seed_shop import seed_demo_shop
from refunddesk.tour.door import Door
from refunddesk.tour.play import CannotStart, check_first_day, play
from refunddesk.tour.screen import Screen
from refunddesk.tour.stage import Stage

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_photo_folder")]


@pytest.fixture(autouse=True)
def worked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def ring(run_id: uuid.UUID) -> bool:
        work(str(run_id))
        return True

    monkeypatch.setattr("agent.announce.ring", ring)
    monkeypatch.setattr("refunddesk.tour.facts.ring", ring)


@pytest.fixture
def door(settings: Settings) -> Iterator[Door]:
    transport = httpx2.WSGITransport(app=get_wsgi_application())
    with Door("http://127.0.0.1", settings.DEMO_PASSWORD, transport=transport) as door:
        yield door


def test_every_story_ends_as_it_should_and_a_second_tour_needs_a_reset(door: Door) -> None:
    seed_demo_shop()
    check_first_day(door)
    out = io.StringIO()
    endings = list(play(Stage(door, Screen(out), patience=5)))
    assert [ending.story.number for ending in endings if not ending.good] == [], out.getvalue()
    assert len(endings) == 10
    assert not Run.objects.filter(status=Run.Status.RUNNING).exists()
    with pytest.raises(CannotStart, match="run reset"):
        check_first_day(door)
    reset_demo_shop()
    check_first_day(door)
