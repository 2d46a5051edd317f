"""Websockets that lead nowhere are refused like any other: no error of ours, nothing in the log."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from channels.generic.websocket import AsyncWebsocketConsumer
from channels.security.websocket import WebsocketDenier

Scope = dict[str, Any]
Application = Callable[[Scope, Any, Any], Awaitable[Any]]


class NoSuchAddress(AsyncWebsocketConsumer):
    async def connect(self) -> None:
        await self.close()


class ReadableOrigin:
    """Refuses an `Origin` that is no address; what stands behind it would stumble over it."""

    def __init__(self, inner: Application) -> None:
        self.inner = inner

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> Any:
        origins = [value for name, value in scope.get("headers", []) if name == b"origin"]
        if all(map(_is_address, origins)):
            return await self.inner(scope, receive, send)
        return await WebsocketDenier()(scope, receive, send)


def _is_address(origin: bytes) -> bool:
    try:
        parts = urlsplit(origin.decode("latin-1"))
        return parts.port is None or parts.port > 0
    except ValueError:
        return False
