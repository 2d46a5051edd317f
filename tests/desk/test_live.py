"""The desk's websockets: who may listen, every step once and in order, and silence when the right is gone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.contrib.auth.models import User

from desk import consumers
from intake.live import DESK_GROUP, staff_group
from intake.models import RefundRequest
from tests.desk.rows import card_for, ended_run, kettle_request, member_of, minutes_ago, onlooker, step_of
from tests.desk.sockets import Socket, opened, socket_of
from tests.factories import CustomerFactory

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]


async def note(group: str) -> None:
    layer = get_channel_layer()
    assert layer is not None
    await layer.group_send(group, {"type": "case.news", "request": "", "rev": 0})


def case_with_steps(count: int) -> tuple[RefundRequest, str]:
    request = kettle_request("working")
    run = ended_run(request, minutes_ago(1))
    for n in range(count):
        step_of(request, f"step {n}", run_uuid=run.pk)
    return request, str(run.pk)


def step_ids(frame: dict[str, Any]) -> list[str]:
    return [one["id"] for one in frame["fragments"] if one["id"].startswith("step-")]


async def test_a_page_that_was_away_gets_all_it_missed_once_and_in_order() -> None:
    request, run = await sync_to_async(case_with_steps)(3)
    user = await sync_to_async(member_of)("support")
    async with opened(f"/ws/desk/cases/{request.uuid}/", user, rev=3) as page:
        assert (await page.frame())["type"] == "alive"
    for n in range(5):
        await sync_to_async(step_of)(request, f"later {n}", run_uuid=run)
    async with opened(f"/ws/desk/cases/{request.uuid}/", user, rev=3) as page:
        frame = await page.frame()
    assert step_ids(frame) == ["step-4", "step-5", "step-6", "step-7", "step-8"]
    assert frame["rev"] == 8


async def test_a_new_step_is_told_at_once_and_only_that() -> None:
    request, run = await sync_to_async(case_with_steps)(2)
    user = await sync_to_async(member_of)("support")
    async with opened(f"/ws/desk/cases/{request.uuid}/", user, rev=2) as page:
        await page.frame()
        await sync_to_async(step_of)(request, "now", run_uuid=run)
        await note(staff_group(request.uuid))
        assert step_ids(await page.frame()) == ["step-3"]


async def test_150_notes_in_a_second_leave_nothing_out() -> None:
    request, run = await sync_to_async(case_with_steps)(1)
    user = await sync_to_async(member_of)("support")
    async with opened(f"/ws/desk/cases/{request.uuid}/", user, rev=1) as page:
        await page.frame()
        for n in range(149):
            await sync_to_async(step_of)(request, f"quick {n}", run_uuid=run)
            await note(staff_group(request.uuid))
        seen: list[str] = []
        rev = 1
        while rev < 150:
            frame = await page.frame()
            seen += step_ids(frame) if frame["type"] == "news" else []
            rev = frame["rev"]
    assert list(dict.fromkeys(seen)) == [f"step-{position}" for position in range(2, 151)]


@pytest.mark.parametrize("origin", [None, b"null", b"http://evil.example", b"http://localhost.evil.example"])
async def test_another_sites_page_is_refused_before_any_data(origin: bytes | None) -> None:
    request, _ = await sync_to_async(case_with_steps)(1)
    user = await sync_to_async(member_of)("support")
    for path in (f"/ws/desk/cases/{request.uuid}/", "/ws/desk/"):
        assert not await (await socket_of(user, path, origin=origin)).accepted()


async def test_a_customer_and_a_missing_request_are_refused_alike() -> None:
    request, _ = await sync_to_async(case_with_steps)(1)
    customer, staff = await sync_to_async(CustomerFactory)(), await sync_to_async(onlooker)()
    missing = "00000000-0000-0000-0000-000000000000"
    for path, user in (
        (f"/ws/desk/cases/{request.uuid}/", customer),
        ("/ws/desk/", customer),
        (f"/ws/desk/cases/{missing}/", staff),
    ):
        assert not await (await socket_of(user, path)).accepted(), path


async def test_who_is_no_staff_any_more_hears_nothing_more() -> None:
    request, run = await sync_to_async(case_with_steps)(1)
    user = await sync_to_async(member_of)("support")
    async with opened(f"/ws/desk/cases/{request.uuid}/", user, rev=1) as page:
        await page.frame()
        await User.objects.filter(pk=user.pk).aupdate(is_staff=False)
        await sync_to_async(step_of)(request, "secret", run_uuid=run)
        await note(staff_group(request.uuid))
        closing = await page.event()
    assert (closing["type"], closing["code"]) == ("websocket.close", 4404)


async def test_without_news_the_right_is_checked_every_few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers.StaffCaseConsumer, "check_seconds", 0.1)
    request, _ = await sync_to_async(case_with_steps)(1)
    user = await sync_to_async(member_of)("support")
    async with opened(f"/ws/desk/cases/{request.uuid}/", user, rev=1) as page:
        await page.frame()
        await User.objects.filter(pk=user.pk).aupdate(is_active=False)
        event = await page.event()
        while event["type"] != "websocket.close":
            event = await page.event()
    assert event["code"] == 4401


async def test_the_queue_page_is_told_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers.QueueConsumer, "pace_seconds", 0.0)
    user = await sync_to_async(onlooker)()
    async with opened("/ws/desk/", user) as page:
        first = await page.frame()
        request = await sync_to_async(kettle_request)()
        await sync_to_async(card_for)(request)
        await note(DESK_GROUP)
        second = await page.frame()
    counts = [
        next(one["html"] for one in frame["fragments"] if one["id"] == "count-needs-approval")
        for frame in (first, second)
    ]
    assert [">0</b>" in counts[0], ">1</b>" in counts[1]] == [True, True]


async def test_many_notes_are_told_at_the_queues_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers.QueueConsumer, "pace_seconds", 0.3)
    user = await sync_to_async(onlooker)()
    async with opened("/ws/desk/", user) as page:
        await page.frame()
        for _ in range(50):
            await note(DESK_GROUP)
        await asyncio.sleep(0.5)
        told = 0
        while not await page.silent_for(0.5):
            await page.frame()
            told += 1
    assert 1 <= told <= 3


async def test_people_at_the_same_request_see_each_other_and_who_is_deciding() -> None:
    request, _ = await sync_to_async(case_with_steps)(1)
    maya = await sync_to_async(member_of)("lead", "Maya", "Okafor")
    daniel = await sync_to_async(member_of)("support", "Daniel", "Reyes")
    path = f"/ws/desk/cases/{request.uuid}/"
    async with opened(path, maya, rev=1) as hers:
        await hers.frame()
        async with opened(path, daniel, rev=1) as his:
            assert "Daniel Reyes is here too" in who_is_in(await until_who(hers))
            assert "Maya Okafor is here too" in who_is_in(await until_who(his))
            await his.say({"type": "writing", "writing": True})
            assert "Daniel Reyes is deciding" in who_is_in(await until_who(hers))
        assert "Daniel" not in who_is_in(await until_who(hers))


async def until_who(page: Socket) -> dict[str, Any]:
    while True:
        frame = await page.frame()
        if any(one["id"].startswith("who-") for one in frame.get("fragments", [])):
            return frame


def who_is_in(frame: dict[str, Any]) -> str:
    return str(next(one["html"] for one in frame["fragments"] if one["id"].startswith("who-")))
