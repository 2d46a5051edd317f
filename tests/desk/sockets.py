"""A browser's side of a websocket, spoken to the whole ASGI application."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from refunddesk.asgi import application

WAIT = 5.0
ORIGIN = b"http://localhost"


class Socket:
    def __init__(self, path: str, cookie: bytes, origin: bytes | None) -> None:
        headers = [(b"host", b"localhost"), (b"cookie", cookie)]
        if origin is not None:
            headers.append((b"origin", origin))
        scope = {"type": "websocket", "path": path, "query_string": b"", "headers": headers, "subprotocols": []}
        self._wire = ApplicationCommunicator(application, scope)

    async def accepted(self) -> bool:
        await self._wire.send_input({"type": "websocket.connect"})
        answer = await self._wire.receive_output(WAIT)
        return bool(answer["type"] == "websocket.accept")

    async def say(self, frame: dict[str, Any]) -> None:
        await self._wire.send_input({"type": "websocket.receive", "text": json.dumps(frame)})

    async def event(self) -> dict[str, Any]:
        """The next thing that comes: a frame or the close."""
        answer: dict[str, Any] = await self._wire.receive_output(WAIT)
        return answer

    async def frame(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((await self.event())["text"])
        return found

    async def silent_for(self, seconds: float) -> bool:
        return bool(await self._wire.receive_nothing(seconds))

    async def leave(self) -> None:
        await self._wire.send_input({"type": "websocket.disconnect", "code": 1000})
        await self._wire.wait(WAIT)


async def socket_of(user: User, path: str, *, origin: bytes | None = ORIGIN) -> Socket:
    def cookie() -> bytes:
        client = Client()
        client.force_login(user)
        name = settings.SESSION_COOKIE_NAME
        return f"{name}={client.cookies[name].value}".encode()

    return Socket(path, await sync_to_async(cookie)(), origin)


@asynccontextmanager
async def opened(path: str, user: User, rev: int = 0) -> AsyncIterator[Socket]:
    """A socket that was accepted and has said the `rev` it shows."""
    socket = await socket_of(user, path)
    assert await socket.accepted()
    await socket.say({"type": "hello", "rev": rev})
    yield socket
    await socket.leave()
