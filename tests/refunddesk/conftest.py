"""A demo of its own for a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from refunddesk.demo_processes.local_redis import free_port
from tests.refunddesk.demo_terminal import Demo


@pytest.fixture
def start_demo(tmp_path: Path) -> Iterator[Callable[..., Demo]]:
    started: list[Demo] = []

    def start(name: str = "data", port: int | None = None, **env: str) -> Demo:
        (tmp_path / name).mkdir(exist_ok=True)
        started.append(Demo(tmp_path / name, port or free_port(), **env))
        return started[-1]

    yield start
    for demo in started:
        demo.stop()
