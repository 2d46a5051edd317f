"""A broker that is away costs who publishes a moment, and the next message gets through once it is back."""

from __future__ import annotations

import threading
import time

import pytest
from kombu.exceptions import OperationalError

from refunddesk.celery import app
from tests.processes import RedisServer

pytestmark = pytest.mark.worker
AT_MOST_SECONDS = 2.2


def publish() -> None:
    app.send_task("refunddesk.tasks.pulse", args=["test"])


@pytest.mark.parametrize("state", ["dead", "frozen"])
def test_publishing_gives_up_soon(real_broker: RedisServer, state: str) -> None:
    publish()
    real_broker.kill() if state == "dead" else real_broker.freeze()
    before = time.monotonic()

    with pytest.raises(OperationalError):
        publish()

    assert time.monotonic() - before < AT_MOST_SECONDS


def test_many_at_once_give_up_as_soon_as_one(real_broker: RedisServer) -> None:
    publish()
    real_broker.freeze()
    took: list[float] = []

    def publish_in_vain() -> None:
        before = time.monotonic()
        with pytest.raises(OperationalError):
            publish()
        took.append(time.monotonic() - before)

    threads = [threading.Thread(target=publish_in_vain) for _ in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(took) == 30
    assert max(took) < AT_MOST_SECONDS


def test_the_next_message_gets_through_after_a_restart(real_broker: RedisServer) -> None:
    publish()
    real_broker.kill()
    with pytest.raises(OperationalError):
        publish()
    real_broker.start_again()

    publish()

    with real_broker.client() as client:
        assert client.llen("refunddesk") == 1
