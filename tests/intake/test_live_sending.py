"""Notes from a worker to open pages through a real Redis, and without one (field case w07)."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterator

import pytest
import redis
from channels.layers import channel_layers
from channels_redis.pubsub import RedisPubSubChannelLayer

from intake import live
from intake.live import customer_group, send_soon, staff_group
from tests.processes import RedisServer


@pytest.fixture
def redis_layer(real_redis: RedisServer) -> Iterator[RedisServer]:
    layer = RedisPubSubChannelLayer(hosts=[{"address": real_redis.url, "socket_connect_timeout": 1}])
    before = channel_layers.set("default", layer)
    yield real_redis
    channel_layers.set("default", before)


def test_300_sends_of_one_process_all_arrive_over_a_level_number_of_connections(
    redis_layer: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    group = staff_group(uuid.uuid4())
    listener = redis.Redis.from_url(redis_layer.url)
    with listener.pubsub() as heard:
        heard.subscribe(f"asgi__group__{group}")
        heard.get_message(timeout=5)
        send_soon([(group, {"type": "case.news"})])
        assert heard.get_message(timeout=5) is not None
        connections = len(listener.client_list())
        for _ in range(299):
            send_soon([(group, {"type": "case.news"})])
        arrived = sum(heard.get_message(timeout=5) is not None for _ in range(299))
        assert (arrived, len(listener.client_list())) == (299, connections)
    assert "Event loop is closed" not in caplog.text


def test_a_broker_that_is_away_costs_the_caller_nothing(
    redis_layer: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    redis_layer.kill()
    started = time.monotonic()
    for _ in range(50):
        send_soon([(customer_group(uuid.uuid4()), {"type": "case.news"})])
    assert time.monotonic() - started < 0.5
    deadline = time.monotonic() + 15
    while "a live note was not sent" not in caplog.text and time.monotonic() < deadline:
        time.sleep(0.05)
    assert "a live note was not sent" in caplog.text


def test_notes_that_find_too_many_waiting_are_left_out(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    monkeypatch.setattr(live._waiting, "acquire", lambda blocking: False)
    send_soon([(customer_group(uuid.uuid4()), {"type": "case.news"})])
    assert "left out" in caplog.text
