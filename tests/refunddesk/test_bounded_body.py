"""A body above the bound is refused with a sentence, and costs the web server neither memory nor disk."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from intake.models import Photo, RefundRequest
from refunddesk import bounded_body
from refunddesk.bounded_body import MOST_BYTES, BoundedBody
from refunddesk.demo_processes.child import Child
from tests.factories import CustomerFactory, LineFactory, OrderFactory
from tests.processes import DeskPrograms, wait_until

MIB = 1024 * 1024
PIECE = b"x" * (256 * 1024)
BOUNDARY = "a-line-between-parts"
SENTENCE = "It is larger than 64 MB, so nothing of it was kept."


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Message
    text: str


class Desk:
    """The real web server of the desk."""

    def __init__(self, web: Child, address: str) -> None:
        self.pid = web.process.pid
        self.port = int(address.rpartition(":")[2])

    def post(self, path: str, pieces: Iterable[bytes], size: int | None, **headers: str) -> Answer:
        """`size`: what Content-Length says; None: the body goes in chunks."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        length = {} if size is None else {"Content-Length": str(size)}
        try:
            with suppress(ConnectionError):
                connection.request("POST", path, pieces, {**headers, **length}, encode_chunked=size is None)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, " ".join(answer.read().decode().split()))
        finally:
            connection.close()

    def peak_memory(self) -> int:
        """Bytes."""
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{self.pid}/status").read_text())
        assert found
        return int(found[1]) * 1024

    def bytes_in_open_files(self) -> int:
        """Of the files without a name that it holds open: where Django keeps a body."""
        sizes = []
        for handle in Path(f"/proc/{self.pid}/fd").iterdir():
            with suppress(FileNotFoundError):
                if os.readlink(handle).endswith("(deleted)"):
                    sizes.append(handle.stat().st_size)
        return sum(sizes)


@pytest.fixture
def desk(programs: DeskPrograms) -> Desk:
    return Desk(*programs.web())


def pieces_of(size: int) -> Iterator[bytes]:
    for start in range(0, size, len(PIECE)):
        yield PIECE[: size - start]


def signed_in(user: User, port: int) -> dict[str, str]:
    browser = Client()
    browser.force_login(user)
    session, token = browser.cookies["sessionid"].value, "t" * 32
    return {"Cookie": f"sessionid-{port}={session}; csrftoken-{port}={token}", "X-CSRFToken": token}


def form_with_five_large_photos(size: int) -> Iterator[bytes]:
    """A form of exactly `size` bytes; each of its photos is far above the limit of one."""
    head = b"".join(_part(f'name="{name}"', value) for name, value in {"reason": "damaged", "details": "Bent."}.items())
    photos = [_part(f'name="files"; filename="{number}.jpg"', "") for number in range(5)]
    end = f"--{BOUNDARY}--\r\n".encode()
    fill = size - len(head) - sum(map(len, photos)) - len(end)
    yield head
    for number, photo in enumerate(photos):
        yield photo[:-2]
        yield from pieces_of(fill // 5 + (fill % 5 if number == 4 else 0))
        yield b"\r\n"
    yield end


def _part(disposition: str, value: str) -> bytes:
    return f"--{BOUNDARY}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n{value}\r\n".encode()


@pytest.mark.worker
@pytest.mark.django_db(transaction=True)
def test_a_form_at_the_bound_gets_its_page_with_the_text_kept_and_one_byte_more_is_refused(desk: Desk) -> None:
    line = LineFactory(order=OrderFactory(customer=CustomerFactory()))
    headers = {**signed_in(line.order.customer, desk.port), "Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    path = f"/orders/{line.order.number}/refund/{line.sku}"

    at, above = (
        desk.post(path, form_with_five_large_photos(size), size, **headers) for size in (MOST_BYTES, MOST_BYTES + 1)
    )

    assert at.status == 400
    assert "Bent.</textarea>" in at.text
    assert "0.jpg: The file is larger than 5 MB" in at.text
    assert (above.status, above.headers["Connection"]) == (413, "close")
    assert f"{SENTENCE} Go back in your browser" in above.text
    assert not Photo.objects.exists()
    assert not RefundRequest.objects.exists()


@pytest.mark.worker
@pytest.mark.django_db(transaction=True)
def test_a_body_in_chunks_is_counted_up_to_the_bound(desk: Desk) -> None:
    at, above = (desk.post("/webhooks/stripe", pieces_of(size), None) for size in (MOST_BYTES, MOST_BYTES + 1))

    assert (at.status, json.loads(at.text)["error"]) == (503, "not_configured")
    assert (above.status, json.loads(above.text)["error"]) == (413, "too_large")
    assert above.headers["Connection"] == "close"


@pytest.mark.worker
@pytest.mark.django_db(transaction=True)
def test_a_refused_body_grows_neither_memory_nor_files(desk: Desk) -> None:
    desk.post("/sign-in", pieces_of(MOST_BYTES + 1), MOST_BYTES + 1)
    before, size = desk.peak_memory(), 4 * MOST_BYTES

    answers = [desk.post(path, pieces_of(size), said) for said in (size, None) for path in ("/", "/api/v1/photos")]

    assert [answer.status for answer in answers] == [413] * 4
    assert desk.peak_memory() - before < 16 * MIB
    wait_until(lambda: desk.bytes_in_open_files() == 0, 5, "the files are gone")


@pytest.mark.worker
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["/api/v1/photos", "/webhooks/stripe"])
def test_a_said_length_is_believed_before_a_byte_is_sent_and_the_connection_ends(desk: Desk, path: str) -> None:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {MOST_BYTES + 1}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", desk.port), timeout=20) as wire:
        wire.sendall(head.encode())
        answer = HTTPResponse(wire, method="POST")
        answer.begin()
        said = json.loads(answer.read())
        wire.settimeout(bounded_body.QUIET_SECONDS + 5)
        rest = wire.recv(1)

    assert (answer.status, answer.headers["Content-Type"]) == (413, "application/json")
    assert said == {"error": "too_large", "message": f"{SENTENCE} Send less."}
    assert rest == b""


@pytest.mark.worker
@pytest.mark.django_db(transaction=True)
def test_a_page_refused_for_its_size_is_as_closed_as_any_other(desk: Desk) -> None:
    refused = desk.post("/sign-in", [], MOST_BYTES + 1)

    connection = HTTPConnection("127.0.0.1", desk.port, timeout=10)
    connection.request("GET", "/sign-in")
    page = connection.getresponse()
    connection.close()
    for name in ("Content-Security-Policy", "X-Content-Type-Options"):
        assert refused.headers[name] == page.headers[name]


def played(app: BoundedBody, scope: dict[str, Any], *messages: dict[str, Any]) -> list[Mapping[str, Any]]:
    """What `app` sends when these come in; then the sender is gone."""
    sent: list[Mapping[str, Any]] = []
    coming = iter(messages)

    async def receive() -> dict[str, Any]:
        return next(coming, {"type": "http.disconnect"})

    async def send(message: Mapping[str, Any]) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent


def http(**headers: str) -> dict[str, Any]:
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "path": "/api/v1/photos", "headers": pairs}


def piece(body: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


async def reader(scope: Any, receive: Any, send: Any) -> None:
    """Reads it all, as Django does, and answers with what it read."""
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body, more = body + message["body"], message["more_body"]
    await send({"type": "read", "body": body})


@pytest.mark.parametrize("said", ["11", "0011", "9" * 5000])
def test_a_length_above_the_bound_is_refused_however_it_is_written(said: str) -> None:
    sent = played(BoundedBody(reader, most=10), http(content_length=said))
    assert [message.get("status") for message in sent] == [413, None, None]


@pytest.mark.parametrize("said", ["10", "0" * 5000 + "10", "-11", "eleven", ""])
def test_any_other_length_is_left_to_counting(said: str) -> None:
    scope, app = http(content_length=said), BoundedBody(reader, most=10)
    assert played(app, scope, piece(b"x" * 10)) == [{"type": "read", "body": b"x" * 10}]
    assert played(app, scope, piece(b"x" * 6, more=True), piece(b"x" * 5))[0]["status"] == 413


def test_nobody_is_answered_who_left_in_the_middle() -> None:
    assert played(BoundedBody(reader, most=10), http(), piece(b"x" * 6, more=True)) == []


@pytest.mark.timeout(20)
@pytest.mark.parametrize("pause", [0, 0.0001, 0.001])
def test_whoever_goes_on_sending_is_let_go_after_a_while(monkeypatch: pytest.MonkeyPatch, pause: float) -> None:
    """Without a pause a piece comes nearly always in the moment in which the time runs out."""
    monkeypatch.setattr(bounded_body, "LINGER_SECONDS", 0.05)
    sent: list[Mapping[str, Any]] = []

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(pause)
        return piece(b"x", more=True)

    async def send(message: Mapping[str, Any]) -> None:
        sent.append(message)

    asyncio.run(BoundedBody(reader, most=10)(http(content_length="11"), receive, send))
    assert [message.get("more_body") for message in sent] == [None, True, False]


def test_a_websocket_passes_untouched() -> None:
    given: list[Any] = []

    async def inner(*all_of_it: Any) -> None:
        given.extend(all_of_it)

    async def receive() -> dict[str, Any]:
        return {}

    async def send(message: Mapping[str, Any]) -> None:
        return None

    scope = {"type": "websocket", "headers": [(b"content-length", b"11")]}
    asyncio.run(BoundedBody(inner, most=10)(scope, receive, send))
    assert [one is two for one, two in zip(given, (scope, receive, send), strict=True)] == [True] * 3
