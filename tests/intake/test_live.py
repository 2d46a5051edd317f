"""The websocket of a customer's request, spoken to the whole ASGI application (field cases w01 to w11)."""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import transaction
from django.test import Client

from intake.consumers import RequestConsumer
from intake.live import customer_group
from intake.models import RefundRequest, Step
from intake.timeline import Entry, write_step
from tests.desk.sockets import Socket, opened, socket_of
from tests.factories import CustomerFactory, RequestFactory
from tests.intake.test_api import told

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]
in_thread = sync_to_async


def tell(request: RefundRequest, title: str, *, for_customer: bool = True) -> Step:
    with transaction.atomic():
        return write_step(
            request.pk, Entry(kind=Step.Kind.MESSAGE, actor=Step.Actor.AGENT, title=title, for_customer=for_customer)
        )


@pytest.fixture
def request_row() -> RefundRequest:
    request = RefundRequest.objects.get(pk=RequestFactory(status="working").pk)
    for n in range(3):
        tell(request, f"step {n}")
    return request


@pytest.fixture
def customer(request_row: RefundRequest) -> User:
    return request_row.customer


def path_of(request: RefundRequest) -> str:
    return f"/ws/requests/{request.uuid}"


def steps_in(frame: dict[str, Any]) -> list[str]:
    return [fragment["id"] for fragment in frame["fragments"] if fragment["id"].startswith("step-")]


async def note(request: RefundRequest, times: int = 1) -> None:
    layer = get_channel_layer()
    assert layer is not None
    for _ in range(times):
        await layer.group_send(customer_group(request.uuid), {"type": "case.news", "request": "", "rev": 0})


async def news_of(socket: Socket) -> dict[str, Any]:
    while (frame := await socket.frame())["type"] != "news":
        pass
    return frame


async def close_code_of(socket: Socket) -> int:
    while (event := await socket.event())["type"] != "websocket.close":
        pass
    return int(event["code"])


async def test_a_browser_that_was_away_gets_what_it_missed_once_and_in_order(
    request_row: RefundRequest, customer: User
) -> None:
    for n in range(5):
        await in_thread(tell)(request_row, f"missed {n}")
    async with opened(path_of(request_row), customer, rev=3) as page:
        frame = await page.frame()
        assert steps_in(frame) == [f"step-{position}" for position in range(4, 9)]
        assert frame["rev"] == 8
        await page.say({"type": "hello", "rev": 8})
        assert await page.frame() == {"type": "alive", "rev": 8}


async def test_a_step_written_while_the_page_is_open_arrives_at_once(
    request_row: RefundRequest, customer: User
) -> None:
    async with opened(path_of(request_row), customer, rev=3) as page:
        await page.frame()
        await in_thread(tell)(request_row, "We look into it")
        await note(request_row)
        frame = await news_of(page)
    assert steps_in(frame) == ["step-4"]
    assert "We look into it" in next(f["html"] for f in frame["fragments"] if f["id"] == "step-4")
    assert {"standing", "to-do"} <= {fragment["id"] for fragment in frame["fragments"]}


async def test_steps_for_staff_never_reach_the_customer(request_row: RefundRequest, customer: User) -> None:
    await in_thread(tell)(request_row, "limit: too high", for_customer=False)
    async with opened(path_of(request_row), customer, rev=3) as page:
        frame = await page.frame()
    assert (steps_in(frame), frame["rev"]) == ([], 4)
    assert "limit" not in json.dumps(frame)


async def test_a_reader_that_is_too_slow_loses_notes_and_no_news(
    request_row: RefundRequest, customer: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """150 steps within a moment while a read is held up: drops are counted, the gap comes from the database."""
    monkeypatch.setattr(RequestConsumer, "unread_limit", 20)
    may_read = asyncio.Event()
    real_tell = RequestConsumer._tell_once

    async def held_up(consumer: RequestConsumer) -> bool:
        if consumer.rev:
            await may_read.wait()
        return await real_tell(consumer)

    monkeypatch.setattr(RequestConsumer, "_tell_once", held_up)
    caplog.set_level(logging.WARNING)
    async with opened(path_of(request_row), customer, rev=3) as page:
        for n in range(150):
            await in_thread(tell)(request_row, f"quick {n}")
            await note(request_row)
            await asyncio.sleep(0)
        may_read.set()
        seen: list[str] = []
        while "step-153" not in seen:
            seen += steps_in(await news_of(page))
    assert sorted(set(seen), key=lambda name: int(name[5:])) == [f"step-{position}" for position in range(4, 154)]
    assert "notes dropped" in caplog.text


async def test_without_a_note_the_page_still_learns_of_news(
    request_row: RefundRequest, customer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RequestConsumer, "check_seconds", 0.05)
    async with opened(path_of(request_row), customer, rev=3) as page:
        assert (await page.frame())["type"] == "alive"
        await in_thread(told)(request_row, 4, "agent", "Nobody was told", for_customer=True)
        await RefundRequest.objects.filter(pk=request_row.pk).aupdate(rev=4)
        assert steps_in(await news_of(page)) == ["step-4"]


async def test_a_page_that_knows_more_than_there_is_reloads(request_row: RefundRequest, customer: User) -> None:
    async with opened(path_of(request_row), customer, rev=99) as page:
        frame = await page.frame()
    assert (frame["reload"], frame["rev"], frame["fragments"]) == (True, 3, [])


@pytest.mark.parametrize("origin", [None, b"null", b"http://evil.example", b"http://localhost:9", b"https://", b""])
async def test_another_sites_page_is_refused_before_any_data(
    request_row: RefundRequest, customer: User, origin: bytes | None
) -> None:
    assert not await (await socket_of(customer, path_of(request_row), origin=origin)).accepted()


async def test_someone_elses_request_a_missing_one_and_a_stranger_are_refused_alike(
    request_row: RefundRequest,
) -> None:
    other = await in_thread(CustomerFactory)()
    missing = f"/ws/requests/{uuid.uuid4()}"
    assert not await (await socket_of(other, path_of(request_row))).accepted()
    assert not await (await socket_of(other, missing)).accepted()
    assert not await Socket(path_of(request_row), b"", b"http://localhost").accepted()


async def test_a_customer_who_signs_out_hears_nothing_more(request_row: RefundRequest, customer: User) -> None:
    async with opened(path_of(request_row), customer, rev=3) as page:
        await page.frame()
        await Session.objects.all().adelete()
        await in_thread(tell)(request_row, "secret")
        await note(request_row)
        assert await close_code_of(page) == 4401


async def test_a_new_password_ends_the_old_session(request_row: RefundRequest, customer: User) -> None:
    async with opened(path_of(request_row), customer, rev=3) as page:
        await page.frame()
        await User.objects.filter(pk=customer.pk).aupdate(password="another hash")
        await note(request_row)
        assert await close_code_of(page) == 4401


async def test_a_request_that_is_not_theirs_any_more_closes(request_row: RefundRequest, customer: User) -> None:
    other = await in_thread(CustomerFactory)()
    async with opened(path_of(request_row), customer, rev=3) as page:
        await page.frame()
        await RefundRequest.objects.aupdate(customer=other)
        await note(request_row)
        assert await close_code_of(page) == 4404


@pytest.mark.parametrize(
    "text", ["no json", "[]", "null", '"hello"', '{"type": "dance"}', '{"type": "hello"}', "[" * 4000]
    + [json.dumps({"type": "hello", "rev": rev}) for rev in (-1, "3", None, True, 2.5, 2**40)],
)  # fmt: skip
async def test_a_frame_that_makes_no_sense_gets_an_error_frame_and_the_socket_lives(
    request_row: RefundRequest, customer: User, text: str
) -> None:
    async with opened(path_of(request_row), customer, rev=3) as page:
        await page.frame()
        await page._wire.send_input({"type": "websocket.receive", "text": text})
        assert (await page.frame())["type"] == "error"
        await page.say({"type": "hello", "rev": 2})
        assert steps_in(await page.frame()) == ["step-3"]


@pytest.mark.parametrize("frame", [{"text": "x" * 2_000_000}, {"bytes": b"\x00\x01"}])
async def test_a_huge_or_binary_frame_closes_this_socket_and_no_other(
    request_row: RefundRequest, customer: User, frame: dict[str, Any]
) -> None:
    async with opened(path_of(request_row), customer, rev=3) as bad, opened(path_of(request_row), customer, 3) as good:
        await good.frame()
        await bad._wire.send_input({"type": "websocket.receive", **frame})
        assert await close_code_of(bad) == 4400
        await in_thread(tell)(request_row, "still here")
        await note(request_row)
        assert steps_in(await news_of(good)) == ["step-4"]


async def test_ten_bad_frames_are_enough(request_row: RefundRequest, customer: User) -> None:
    async with opened(path_of(request_row), customer, rev=3) as page:
        for _ in range(10):
            await page.say({"type": "dance"})
        assert await close_code_of(page) == 4400


async def test_what_comes_after_the_close_is_neither_answered_nor_closed_again(
    request_row: RefundRequest, customer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RequestConsumer, "hello_seconds", 0.2)
    socket = await socket_of(customer, path_of(request_row))
    assert await socket.accepted()
    for _ in range(11):
        await socket.say({"type": "dance"})
    assert await close_code_of(socket) == 4400
    await socket.say({"type": "hello", "rev": 3})
    assert await socket.silent_for(0.4)
    await socket.leave()


async def test_a_page_that_never_says_its_rev_is_closed(
    request_row: RefundRequest, customer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RequestConsumer, "hello_seconds", 0.05)
    socket = await socket_of(customer, path_of(request_row))
    assert await socket.accepted()
    assert await close_code_of(socket) == 4400


async def test_polling_gives_the_same_frames(request_row: RefundRequest, customer: User) -> None:
    def poll(rev: Any) -> Any:
        browser = Client()
        browser.force_login(customer)
        return browser.get(f"/requests/{request_row.uuid}/news", {"rev": rev}).json()

    newer = await in_thread(poll)(1)
    assert (steps_in(newer), newer["rev"], newer["type"]) == (["step-2", "step-3"], 3, "news")
    assert (await in_thread(poll)(3))["fragments"] == []
    assert (await in_thread(poll)(9))["reload"] is True
    assert (await in_thread(poll)("x"))["rev"] == 3


async def test_polling_after_the_session_ended_says_so_instead_of_showing_a_sign_in_page(
    request_row: RefundRequest,
) -> None:
    answer = await in_thread(Client().get)(f"/requests/{request_row.uuid}/news")
    assert (answer.status_code, answer.json()["error"]) == (401, "not_authenticated")
