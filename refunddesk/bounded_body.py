"""No request's body is larger than a fixed bound: Django itself would keep any of it on disk before a view is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any

from refunddesk.too_large import headers_and_page

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[Any]]

# A form with five photos at their limit is 25 MiB; one with larger photos still gets its page back, with the text kept.
MOST_BYTES = 64 * 1024 * 1024
# A refused sender may go on for so long, and pause for so long: closing while it sends would reset the connection
# before it has read the answer.
LINGER_SECONDS, QUIET_SECONDS = 10.0, 2.0
MOST_DIGITS = 18


class BoundedBody:
    """Answers 413 and closes the connection when a body is larger than `most` bytes; other scopes pass untouched.

    A length that is said is believed before anything is read; every body is counted as well. `inner` must read the
    whole body before it answers, as Django does.
    """

    def __init__(self, inner: Application, most: int = MOST_BYTES) -> None:
        self.inner = inner
        self.most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return
        if _says_more_than(self.most, scope):
            await self._refuse(scope, receive, send)
            return
        counted = _Counted(receive, self.most)
        await self.inner(scope, counted, send)
        if counted.too_much:
            await self._refuse(scope, receive, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, page = headers_and_page(scope["path"], self.most)
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": page, "more_body": True})
        await _drop_the_rest(receive)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class _Counted:
    """Hands a body on until it is larger than `most` bytes; from there on it says that the sender is gone."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive = receive
        self._left = most
        self.too_much = False

    async def __call__(self) -> Message:
        if not self.too_much:
            message = await self._receive()
            self._left -= len(message.get("body", b""))
            self.too_much = self._left < 0
        return {"type": "http.disconnect"} if self.too_much else message


def _says_more_than(most: int, scope: Scope) -> bool:
    """A length that is no number is the server's affair, and its body is counted."""
    said = [value.strip().lstrip(b"0") for name, value in scope["headers"] if name == b"content-length"]
    return any(value.isdigit() and (len(value) > MOST_DIGITS or int(value) > most) for value in said)


async def _drop_the_rest(receive: Receive) -> None:
    """One clock for both bounds: `wait_for` inside `asyncio.timeout` swallows the latter's cancellation in Python 3.11
    when a piece comes in that moment, and the sender is then heard for ever."""
    until, more = monotonic() + LINGER_SECONDS, True
    with suppress(TimeoutError):
        while more and (left := until - monotonic()) > 0:
            message = await asyncio.wait_for(receive(), min(QUIET_SECONDS, left))
            more = message.get("more_body", False)
