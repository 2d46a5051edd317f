"""Where `manage.py demo` cannot start, a person gets a sentence and nothing is left behind."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from refunddesk.demo_processes.local_redis import free_port
from tests.refunddesk.demo_terminal import ALL_OK, STOP_SECONDS, Demo, env_for, run_demo

pytestmark = [pytest.mark.once, pytest.mark.timeout(400)]


def test_a_second_demo_on_the_same_folder_gets_a_sentence(start_demo: Callable[..., Demo]) -> None:
    first = start_demo()
    first.wait_until_ready()

    second = start_demo()

    assert second.process.wait(STOP_SECONDS) == 1
    assert f"A demo already runs in {first.data_dir} (process {first.process.pid}" in second.terminal()
    assert "Traceback" not in second.terminal()
    assert first.health() == ALL_OK


def test_a_second_demo_on_the_same_folder_and_port_hears_of_the_folder(start_demo: Callable[..., Demo]) -> None:
    first = start_demo()
    first.wait_until_ready()

    ended = run_demo(env_for(first.data_dir, first.port))

    assert ended.returncode == 1
    assert f"A demo already runs in {first.data_dir} (process {first.process.pid}" in ended.stderr
    assert first.health() == ALL_OK


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


@pytest.mark.parametrize("there_before", [(), ("new",), ("new/data",), ("new/data/static",), ("new/data/demo.lock",)])
def test_a_port_in_use_gets_a_sentence_and_nothing_is_left_that_was_not_there(
    tmp_path: Path, taken_port: int, there_before: tuple[str, ...]
) -> None:
    for name in there_before:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch() if name.endswith("lock") else (tmp_path / name).mkdir()
    before = sorted(tmp_path.rglob("*"))

    ended = run_demo(env_for(tmp_path / "new" / "data", taken_port))

    assert ended.returncode == 1
    assert f"Port {taken_port} cannot be used" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_that_cannot_be_made_gets_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    ended = run_demo(env_for(tmp_path / "file" / "data", free_port()))

    assert ended.returncode == 1
    assert f"{tmp_path / 'file' / 'data'} cannot be made or written" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_folder_that_cannot_be_written_gets_a_sentence() -> None:
    ended = run_demo(env_for(Path("/proc/self"), free_port()))

    assert ended.returncode == 1
    assert "cannot be made or written" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_demo_does_not_start_in_production(tmp_path: Path) -> None:
    ended = run_demo(
        env_for(
            tmp_path, free_port(), DEMO="off", SECRET_KEY="x" * 60, ALLOWED_HOSTS="shop.example", RETURN_ADDRESS="Shop"
        )
    )

    assert ended.returncode == 1
    assert "runs only in demo mode" in ended.stderr


def test_a_redis_that_does_not_answer_gets_a_sentence(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo(REDIS_URL=f"redis://127.0.0.1:{free_port()}/0")

    assert demo.process.wait(STOP_SECONDS) == 1
    assert "Redis does not answer" in demo.terminal()
