"""`manage.py demo` while it lives: what a person sees when parts of it die, and that it leaves no trace."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from django.conf import settings
from websockets.sync.client import ClientConnection

from refunddesk.demo_shop.people import PRIYA
from refunddesk.tour.door import Door
from tests.processes import CODE, wait_until
from tests.refunddesk.demo_terminal import ALL_OK, STOP_SECONDS, Demo, children_of

pytestmark = [pytest.mark.once, pytest.mark.timeout(400)]
LIVE_SECONDS = 5


def test_two_demos_live_side_by_side_and_each_stops_without_a_trace(start_demo: Callable[..., Demo]) -> None:
    first, second = start_demo("first"), start_demo("second")
    first.wait_until_ready()
    second.wait_until_ready()

    assert first.health() == ALL_OK
    assert f"http://127.0.0.1:{first.port}/" in first.terminal()
    assert "priya.raman@example.com" in first.terminal()
    assert len(first.children) == 5

    first.process.send_signal(signal.SIGINT)
    assert first.process.wait(STOP_SECONDS) == 0
    assert first.leaves_nothing()
    assert second.health() == ALL_OK

    second.process.send_signal(signal.SIGHUP)
    assert second.process.wait(STOP_SECONDS) == 0
    assert second.leaves_nothing()
    assert not (second.data_dir / "redis-url").exists()


def test_nothing_outlives_a_demo_that_was_killed(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo()
    demo.wait_until_ready()

    demo.process.kill()
    demo.process.wait()

    wait_until(demo.leaves_nothing, 5, "the children died with their parent")

    again = start_demo()
    again.wait_until_ready()
    assert again.health() == ALL_OK


def test_dead_workers_and_a_dead_beat_are_started_again_and_a_dead_web_server_ends_the_demo(
    start_demo: Callable[..., Demo],
) -> None:
    demo = start_demo()
    demo.wait_until_ready()

    os.kill(demo.child_named("worker@"), signal.SIGKILL)
    os.kill(demo.child_named("clock@"), signal.SIGKILL)
    os.kill(demo.child_named(" beat "), signal.SIGKILL)
    wait_until(lambda: "The worker ended by itself (signal 9); a new one is started" in demo.terminal())
    wait_until(lambda: "The clock ended by itself (signal 9); a new one is started" in demo.terminal())
    wait_until(lambda: "The beat ended by itself (signal 9); a new one is started" in demo.terminal())
    wait_until(lambda: demo.health() == ALL_OK)
    demo.children |= children_of(demo.process.pid)
    os.kill(demo.child_named("uvicorn"), signal.SIGKILL)

    assert demo.process.wait(STOP_SECONDS) == 1
    assert "The web ended by itself (signal 9)" in demo.terminal()
    assert str(demo.data_dir / "logs" / "web.log") in demo.terminal()
    assert demo.leaves_nothing()


def test_a_killed_redis_comes_back_and_work_news_and_health_go_on(
    start_demo: Callable[..., Demo], tell: Callable[[str], None]
) -> None:
    demo = start_demo()
    demo.wait_until_ready()
    with demo.open_desk() as desk, Door(demo.address, settings.DEMO_PASSWORD) as door:
        killed, others, at = demo.redis(), demo.children, demo.redis_url()
        os.kill(killed, signal.SIGKILL)
        before = time.monotonic()
        asked = ask(door, "PH-20417", "CAR-600", "carafe-cracked")

        wait_until(lambda: door.get(PRIYA, f"requests/{asked}")["status"] == "refunded", 60, "the request has ended")
        tell(f"a request was refunded {time.monotonic() - before:.1f} s after Redis was killed")
        wait_until(lambda: door.health() == (200, ALL_OK), 60, "everything answers")
        tell(f"and all was well {time.monotonic() - before:.1f} s after it")
        hear_until_quiet(desk)
        ask(door, "PH-20388", "KTL-09", "kettle-dented-spout")
        hear_news(desk)

    assert "Redis ended by itself (signal 9); a new one is started." in demo.terminal()
    assert demo.redis_url() == at
    assert children_of(demo.process.pid) == others - {killed} | {demo.redis()}


def test_a_redis_that_cannot_be_started_again_ends_the_demo_with_a_sentence(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo()
    demo.wait_until_ready()

    demo.process.send_signal(signal.SIGSTOP)
    os.kill(demo.redis(), signal.SIGKILL)
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        wait_until(lambda: _could_bind(taken, demo.redis_port()), 5, "the port is let go")
        taken.listen()
        demo.process.send_signal(signal.SIGCONT)

        assert demo.process.wait(STOP_SECONDS) == 1

    sentence = "Redis ended by itself (signal 9) and could not be started again, 3 times in a row."
    assert demo.terminal().count(sentence) == 1
    assert "a new one is started" not in demo.terminal()
    assert "Traceback" not in demo.terminal()
    assert demo.leaves_nothing()
    assert not (demo.data_dir / "redis-url").exists()


def ask(door: Door, order: str, sku: str, photo: str) -> str:
    """Priya's request for a damaged thing, by its id."""
    photo_id = door.upload(PRIYA, CODE / "fixtures" / "photos" / f"{photo}.jpg")
    words = {"reason": "damaged", "details": "It arrived like this.", "photos": [photo_id]}
    return str(door.post(PRIYA, "requests", {"order": order, "sku": sku, **words})["id"])


def hear_until_quiet(desk: ClientConnection) -> None:
    with suppress(TimeoutError):
        while True:
            desk.recv(timeout=3)


def hear_news(desk: ClientConnection) -> None:
    """Raises TimeoutError when none comes well before a page would ask by itself."""
    until = time.monotonic() + LIVE_SECONDS
    while json.loads(desk.recv(timeout=until - time.monotonic()))["type"] != "news":
        pass


def _could_bind(listener: socket.socket, port: int) -> bool:
    try:
        listener.bind(("127.0.0.1", port))
    except OSError:
        return False
    return True
