"""What a page that knows the timeline up to a `rev` is told: everything newer, where it belongs, and nothing twice."""

from __future__ import annotations

import pytest
from django.db import transaction
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from desk.case import find_request
from desk.news import MOST_STEPS_TOLD, case_news
from intake.live_consumer import Fragment
from intake.models import RefundRequest, Step
from intake.timeline import finish_step
from tests.desk.rows import ended_run, kettle_request, minutes_ago, step_of
from tests.factories import RunFactory

pytestmark = pytest.mark.django_db
ALWAYS = ["tail", "activity-summary", "stamp"]


def told(request: RefundRequest, rev: int) -> list[Fragment]:
    return list(case_news(find_request(request.uuid), rev).fragments)


def ids(request: RefundRequest, rev: int) -> list[tuple[str, str]]:
    return [(one.id, one.into) for one in told(request, rev) if one.id not in ALWAYS and not one.id.endswith("-head")]


def test_a_new_step_of_a_shown_run_is_added_to_it() -> None:
    request = kettle_request("working")
    run = ended_run(request, minutes_ago(1))
    step_of(request, "one", run_uuid=run.pk)
    step_of(request, "two", run_uuid=run.pk)
    step_of(request, "three", run_uuid=run.pk)
    assert ids(request, 1) == [("step-2", f"run-{run.pk}-steps"), ("step-3", f"run-{run.pk}-steps")]
    assert ids(request, 3) == []


def test_a_finished_step_is_told_again_in_its_place() -> None:
    request = kettle_request("working")
    run = ended_run(request, minutes_ago(1))
    step = step_of(request, "Inspecting the photo", run_uuid=run.pk, state=Step.State.RUNNING)
    with transaction.atomic():
        finish_step(step.pk, title="Inspected the photo")
    news = [one for one in told(request, 1) if one.id == "step-1"]
    assert len(news) == 1
    assert "Inspected the photo" in news[0].html
    assert "running" not in news[0].html


def test_a_new_run_comes_as_a_whole_block() -> None:
    request = kettle_request("working")
    step_of(request, "Priya asked", kind=Step.Kind.TRIGGER, actor=Step.Actor.CUSTOMER)
    run = RunFactory(request=request, started_at=minutes_ago(0))
    step_of(request, "one", run_uuid=run.pk)
    step_of(request, "two", run_uuid=run.pk)
    assert ids(request, 1) == [(f"run-{run.pk}", "blocks")]
    assert ids(request, 0) == [("steps-1", "blocks"), (f"run-{run.pk}", "blocks")]


def test_the_last_line_the_sum_and_the_stamp_always_come() -> None:
    request = kettle_request("working")
    step_of(request, "one")
    assert [one.id for one in told(request, 1)][-3:] == ALWAYS


def test_the_stamp_changes_with_the_card_and_not_with_a_tool_step() -> None:
    def stamp() -> str:
        return next(one.html for one in told(request, 0) if one.id == "stamp")

    request = kettle_request("working")
    step_of(request, "asked", kind=Step.Kind.TRIGGER)
    before = stamp()
    step_of(request, "Looked up the order")
    assert stamp() == before
    step_of(request, "Handed over", kind=Step.Kind.FINISH)
    after = stamp()
    assert after != before
    RefundRequest.objects.filter(pk=request.pk).update(status="needs_approval")
    assert stamp() != after


def test_too_much_to_tell_becomes_a_reload() -> None:
    request = kettle_request("working")
    for n in range(MOST_STEPS_TOLD + 1):
        step_of(request, f"step {n}")
    news = case_news(find_request(request.uuid), 0)
    assert (news.reload, news.fragments, news.rev) == (True, (), MOST_STEPS_TOLD + 1)


def test_news_take_two_queries(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    request = kettle_request("working")
    for n in range(20):
        step_of(request, f"step {n}")
    found = find_request(request.uuid)
    with django_assert_num_queries(2):
        case_news(found, 5)


def test_without_a_websocket_the_page_asks_for_the_same_frames(lead: Client) -> None:
    request = kettle_request("working")
    run = ended_run(request, minutes_ago(1))
    step_of(request, "one", run_uuid=run.pk)
    step_of(request, "two", run_uuid=run.pk)
    frame = lead.get(f"/desk/requests/{request.uuid}/steps?rev=1").json()
    assert (frame["type"], frame["rev"], frame["reload"]) == ("news", 2, False)
    assert frame["fragments"][0]["id"] == "step-2"
    assert lead.get(f"/desk/requests/{request.uuid}/steps?rev=x").json()["fragments"][0]["id"] == f"run-{run.pk}"


def test_counts_come_as_fragments(lead: Client) -> None:
    kettle_request("needs_approval")
    frame = lead.get("/desk/counts").json()
    assert {one["id"] for one in frame["fragments"]} == {
        "count-needs-approval",
        "count-agent-working",
        "count-waiting-on-customer",
        "count-returns",
        "brake",
    }
    assert ">1</b>" in frame["fragments"][0]["html"]
