"""A page that is left leaves nothing behind that goes on reading, whatever comes in that moment."""

from __future__ import annotations

import asyncio

import pytest

from intake.live_consumer import LiveConsumer


class Quiet(LiveConsumer):
    """Reads nothing, and has somebody listening from the start."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = False
        self.hello, self.wake = asyncio.Event(), asyncio.Event()
        self.hello.set()
        self.teller = asyncio.create_task(self._tell_until_closed())

    async def _tell_once(self) -> bool:
        self.wake.clear()
        return True


async def turns(count: int) -> None:
    """So often everybody else has their turn."""
    for _ in range(count):
        await asyncio.sleep(0)


@pytest.mark.parametrize("between", range(4))
def test_a_note_in_the_moment_of_leaving_keeps_nobody_waiting(between: int) -> None:
    async def leaves_in_time() -> bool:
        socket = Quiet()
        await turns(5)
        socket.wake.set()
        await turns(between)
        leaving = asyncio.create_task(socket.disconnect(1000))
        await asyncio.wait({leaving}, timeout=2)
        return leaving.done()

    assert asyncio.run(leaves_in_time())
