"""The timeline as staff read it: runs, people's acts between them, and who was waited for."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from desk.activity import Block, load_activity
from desk.durations import short_milliseconds, short_span
from desk.tail import tail_of
from intake.models import Question, RefundRequest, Return, Step
from payments.models import NEEDS_THE_CUSTOMER
from tests.desk.rows import ended_run, kettle_request, minutes_ago, step_of
from tests.factories import RefundFactory, RunFactory

pytestmark = pytest.mark.django_db
STAFF: dict[str, Any] = {"kind": Step.Kind.TRIGGER, "actor": Step.Actor.STAFF}
CUSTOMER: dict[str, Any] = {"kind": Step.Kind.TRIGGER, "actor": Step.Actor.CUSTOMER}


def decided_case(maya: User) -> RefundRequest:
    """Asked, reviewed, waited 2 h 14 min for Maya, carried out."""
    request = kettle_request("refunded")
    start = minutes_ago(140)
    step_of(request, "Priya asked for a refund", at=start, **CUSTOMER)
    first = ended_run(request, start + timedelta(seconds=1), 2)
    step_of(request, "Looked up the order", at=start + timedelta(seconds=1), run_uuid=first.pk)
    step_of(request, "Handed over", at=start + timedelta(seconds=3), run_uuid=first.pk, kind=Step.Kind.FINISH)
    decided = start + timedelta(hours=2, minutes=14, seconds=4)
    step_of(request, "Maya approved", at=decided, actor_user=maya, **STAFF)
    second = ended_run(request, decided + timedelta(seconds=1), 1, trigger="decision")
    step_of(request, "Refunded", at=decided + timedelta(seconds=2), run_uuid=second.pk)
    return request


def shape(blocks: list[Block]) -> list[tuple[int | None, list[str], str]]:
    return [
        (block.number, [step.title for step in block.steps], block.wait.text if block.wait else "") for block in blocks
    ]


def test_steps_stand_in_runs_with_the_wait_between_them(maya: User) -> None:
    activity = load_activity(decided_case(maya))
    assert shape(activity.blocks) == [
        (None, ["Priya asked for a refund"], ""),
        (1, ["Looked up the order", "Handed over"], ""),
        (None, ["Maya approved"], "waited 2 h 14 min for Maya"),
        (2, ["Refunded"], ""),
    ]
    assert activity.time_spent == "3.0 s"


def test_the_page_shows_runs_with_trigger_duration_and_model(lead: Client, maya: User) -> None:
    request = decided_case(maya)
    request.runs.update(provider="openrouter", model="openai/gpt-6-luna", tokens_in=900, tokens_out=80)
    page = lead.get(f"/desk/queue/all/{request.uuid}/").content.decode()
    assert "Run 1 · New request" in page
    assert "Run 2 · Decision" in page
    assert "· 2.0 s" in page
    assert "openai/gpt-6-luna" in page
    assert "900 in, 80 out" in page
    assert "waited 2 h 14 min for Maya" in page


def test_the_customer_and_the_parcel_are_waited_for_by_name() -> None:
    request = kettle_request("closed")
    asked = minutes_ago(60 * 24 * 9)
    first = ended_run(request, asked)
    step_of(request, "Asked the customer", at=asked, run_uuid=first.pk)
    step_of(request, "Priya answered", at=asked + timedelta(hours=26), **CUSTOMER)
    second = ended_run(request, asked + timedelta(hours=27))
    step_of(request, "Sent the return code", at=asked + timedelta(hours=27), run_uuid=second.pk)
    third = ended_run(request, asked + timedelta(hours=27, days=7), trigger="check")
    step_of(request, "Return checked", at=asked + timedelta(hours=27, days=7), run_uuid=third.pk)
    waits = [block.wait.text for block in load_activity(request).blocks if block.wait]
    assert waits == ["waited 1 d 1 h for Priya", "waited 1 h for the agent", "waited 6 d 23 h for the parcel"]


def test_a_step_without_a_run_in_the_middle_of_one_keeps_the_run_together() -> None:
    request = kettle_request()
    run = ended_run(request, minutes_ago(5))
    step_of(request, "one", run_uuid=run.pk)
    step_of(request, "the bank wrote", actor=Step.Actor.SYSTEM)
    step_of(request, "two", run_uuid=run.pk)
    assert [block[1] for block in shape(load_activity(request).blocks)] == [["one", "two"], ["the bank wrote"]]


def test_a_timeline_takes_two_queries(django_assert_num_queries: DjangoAssertNumQueries, maya: User) -> None:
    request = decided_case(maya)
    assert request.customer.first_name == "Priya"
    with django_assert_num_queries(2):
        load_activity(request)


def test_the_last_line_says_what_goes_on_or_who_is_waited_for(maya: User) -> None:
    soon = timezone.now() + timedelta(days=3)
    asked = kettle_request("needs_customer")
    Question.objects.create(request=asked, text="?", asked_by=maya, reply_by=soon)
    sent = kettle_request("awaiting_return")
    Return.objects.create(request=sent, code="RMA-AAAAAA", amount_minor=1, ship_by=soon, check_at=soon)
    cases = {
        "waiting for staff · nothing runs": kettle_request("needs_approval"),
        "waiting for Priya · nothing runs": asked,
        "waiting for the parcel · nothing runs": sent,
        "waiting for the bank · nothing runs": kettle_request("refunding"),
        "refunded · nothing left to do": kettle_request("refunded"),
        "Queued · starts as soon as a worker is free": kettle_request("submitted"),
    }
    for request in cases.values():
        request.runs.update(status="done")
    for text, request in cases.items():
        tail = tail_of(load_activity(request))
        assert tail is not None
        assert tail.text == text
        assert tail.until == (soon if request in (asked, sent) else None)


def test_the_last_line_names_the_customer_whose_answer_the_refund_needs() -> None:
    request = kettle_request("refunding")
    request.runs.update(status="done")
    RefundFactory(request_uuid=request.uuid, status="pending", pending_reason=NEEDS_THE_CUSTOMER)
    tail = tail_of(load_activity(request))
    assert tail is not None
    assert (tail.kind, tail.text) == ("customer", "waiting for Priya to answer the payment provider · nothing runs")


def test_between_the_steps_of_a_running_run_the_agent_thinks() -> None:
    request = kettle_request("working")
    now = timezone.now()
    run = RunFactory(request=request, status="running", started_at=now, token="0" * 32, lease_until=now)
    tail = tail_of(load_activity(request))
    assert tail is not None
    assert (tail.kind, tail.text) == ("thinking", "The agent is thinking")
    step_of(request, "Inspecting the photo", run_uuid=run.pk, state=Step.State.RUNNING)
    assert tail_of(load_activity(request)) is None


def test_a_step_opens_to_arguments_and_result_escaped(lead: Client) -> None:
    request = kettle_request()
    step_of(
        request, "Read policy", tool="read_policy", arguments={"topic": "<b>"}, result={"text": "</pre>"}, duration_ms=4
    )
    page = lead.get(f"/desk/queue/all/{request.uuid}/").content.decode()
    assert "<summary><b>Read policy" in page
    assert "&quot;topic&quot;: &quot;&lt;b&gt;&quot;" in page
    assert "&quot;text&quot;: &quot;&lt;/pre&gt;&quot;" in page
    assert ">4 ms</span>" in page


def test_what_is_written_to_the_customer_names_people_to_staff(lead: Client, daniel: User) -> None:
    request = kettle_request()
    step_of(request, "You asked for a refund", actor_user=request.customer, for_customer=True, **CUSTOMER)
    said: dict[str, Any] = {"kind": Step.Kind.MESSAGE, "actor": Step.Actor.CUSTOMER}
    step_of(request, "You answered", actor_user=request.customer, for_customer=True, **said)
    step_of(request, "Your parcel arrived", actor_user=daniel, for_customer=True, **STAFF)
    page = lead.get(f"/desk/queue/all/{request.uuid}/").content.decode()
    assert "<b>Priya asked for a refund</b>" in page
    assert "<b>Priya answered</b>" in page
    assert "the customer reads this" not in page
    assert "<b>Daniel Reyes recorded the parcel</b>" in page


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (8040, "2 h 14 min"),
        (7200, "2 h"),
        (86400, "1 d"),
        (270000, "3 d 3 h"),
    ],
)
def test_spans_are_short(seconds: int, text: str) -> None:
    assert short_span(timedelta(seconds=seconds)) == text


@pytest.mark.parametrize(("duration_ms", "text"), [(4, "4 ms"), (1840, "1.8 s"), (120_000, "2 min")])
def test_milliseconds_are_short(duration_ms: int, text: str) -> None:
    assert short_milliseconds(duration_ms) == text
