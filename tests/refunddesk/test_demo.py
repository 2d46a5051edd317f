"""`manage.py demo` as a person starts and stops it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest

from refunddesk.demo_processes.local_redis import free_port
from tests.processes import CODE, wait_until

pytestmark = [pytest.mark.once, pytest.mark.timeout(400)]
READY_SECONDS = 120
STOP_SECONDS = 40
ALL_OK = {"web": "ok", "database": "ok", "broker": "ok", "worker": "ok", "beat": "ok"}


class Demo:
    def __init__(self, data_dir: Path, port: int, **env: str) -> None:
        self.port = port
        self.data_dir = data_dir
        self._out = data_dir.parent / f"terminal-{port}"
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "demo"],
            cwd=CODE,
            env=_env_for(data_dir, port, **env),
            stdin=subprocess.DEVNULL,
            stdout=self._out.open("w"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.children: set[int] = set()

    def terminal(self) -> str:
        return self._out.read_text()

    def wait_until_ready(self) -> None:
        wait_until(lambda: "Ready: " in self.terminal() or self.process.poll() is not None, READY_SECONDS, "ready")
        assert "Ready: " in self.terminal(), self.terminal()
        self.children = _children_of(self.process.pid)

    def health(self) -> dict[str, str]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=5)
        connection.request("GET", "/healthz")
        return json.loads(connection.getresponse().read())

    def leaves_nothing(self) -> bool:
        return not any(map(_alive, self.children))

    def child_named(self, words: str) -> int:
        return next(pid for pid in _children_of(self.process.pid) if words in _command_of(pid))

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(STOP_SECONDS)


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


def test_dead_workers_are_started_again_and_a_dead_web_server_ends_the_demo(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo()
    demo.wait_until_ready()

    os.kill(demo.child_named("worker@"), signal.SIGKILL)
    os.kill(demo.child_named("clock@"), signal.SIGKILL)
    wait_until(lambda: "The worker ended by itself (signal 9); a new one is started" in demo.terminal())
    wait_until(lambda: "The clock ended by itself (signal 9); a new one is started" in demo.terminal())
    wait_until(lambda: demo.health() == ALL_OK)
    demo.children |= _children_of(demo.process.pid)
    os.kill(demo.child_named("uvicorn"), signal.SIGKILL)

    assert demo.process.wait(STOP_SECONDS) == 1
    assert "The web ended by itself (signal 9)" in demo.terminal()
    assert str(demo.data_dir / "logs" / "web.log") in demo.terminal()
    assert demo.leaves_nothing()


def test_a_second_demo_on_the_same_folder_gets_a_sentence(start_demo: Callable[..., Demo]) -> None:
    first = start_demo()
    first.wait_until_ready()

    second = start_demo()

    assert second.process.wait(STOP_SECONDS) == 1
    assert f"A demo already runs in {first.data_dir} (process {first.process.pid}" in second.terminal()
    assert "Traceback" not in second.terminal()
    assert first.health() == ALL_OK


def test_a_port_in_use_gets_a_sentence(start_demo: Callable[..., Demo]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        demo = start_demo(port=port)

        assert demo.process.wait(STOP_SECONDS) == 1
    assert f"Port {port} cannot be used" in demo.terminal()
    assert "Traceback" not in demo.terminal()


def test_a_folder_that_cannot_be_made_gets_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    ended = _run_demo(_env_for(tmp_path / "file" / "data", free_port()))

    assert ended.returncode == 1
    assert f"{tmp_path / 'file' / 'data'} cannot be made or written" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_folder_that_cannot_be_written_gets_a_sentence() -> None:
    ended = _run_demo(_env_for(Path("/proc/self"), free_port()))

    assert ended.returncode == 1
    assert "cannot be made or written" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_demo_does_not_start_in_production(tmp_path: Path) -> None:
    ended = _run_demo(_env_for(tmp_path, free_port(), DEMO="off", SECRET_KEY="x" * 60, ALLOWED_HOSTS="shop.example"))

    assert ended.returncode == 1
    assert "runs only in demo mode" in ended.stderr


def test_a_redis_that_does_not_answer_gets_a_sentence(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo(REDIS_URL=f"redis://127.0.0.1:{free_port()}/0")

    assert demo.process.wait(STOP_SECONDS) == 1
    assert "Redis does not answer" in demo.terminal()


def _run_demo(env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", "demo"]
    return subprocess.run(command, cwd=CODE, env=env, capture_output=True, text=True, timeout=STOP_SECONDS)


def _env_for(data_dir: Path, port: int, **env: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG", "TMPDIR"}}
    return {**kept, "PORT": str(port), "DATA_DIR": str(data_dir), "PYTHONUNBUFFERED": "1", **env}


def _children_of(pid: int) -> set[int]:
    return set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def _command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")


def _alive(pid: int) -> bool:
    """A zombie holds nothing any more."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
