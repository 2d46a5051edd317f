"""The way to a model's provider that holds at most some megabytes of an answer, whatever the provider sends.

Answers are asked for unpacked, and a packed one is not taken: a few kilobytes can unpack to more than a worker has.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

MOST_BYTES = 8 * 1024 * 1024
CONNECTIONS = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)


class BoundedTransport(httpx2.AsyncBaseTransport):
    """Raises httpx2.RemoteProtocolError for an answer that is packed or larger than MOST_BYTES."""

    def __init__(self) -> None:
        self._inner = httpx2.AsyncHTTPTransport(limits=CONNECTIONS)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["accept-encoding"] = "identity"
        response = await self._inner.handle_async_request(request)
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            await response.aclose()
            raise httpx2.RemoteProtocolError("the answer is packed")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Bounded(response.stream)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        taken = 0
        async for part in self._inner:
            taken += len(part)
            if taken > MOST_BYTES:
                raise httpx2.RemoteProtocolError("the answer is larger than any answer needs to be")
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()
