"""`manage.py demo` as a person starts and stops it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from django.conf import settings
from websockets import Origin
from websockets.sync.client import ClientConnection, connect

from refunddesk.demo_processes.local_redis import free_port
from refunddesk.demo_shop.people import MAYA, PRIYA
from refunddesk.tour.door import Door
from tests.processes import CODE, wait_until

pytestmark = [pytest.mark.once, pytest.mark.timeout(400)]
READY_SECONDS = 120
STOP_SECONDS = 40
LIVE_SECONDS = 5
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

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def redis_url(self) -> str:
        return (self.data_dir / "redis-url").read_text()

    def redis_port(self) -> int:
        return urlsplit(self.redis_url()).port or 0

    def redis(self) -> int:
        """Its process; it calls itself by its address."""
        return self.child_named(f" 127.0.0.1:{self.redis_port()}")

    @contextmanager
    def open_desk(self) -> Iterator[ClientConnection]:
        """The live part of the desk's pages, as Maya's browser has it open."""
        with httpx2.Client(base_url=self.address, trust_env=False) as browser:
            browser.get("/sign-in")
            token = browser.cookies[f"csrftoken-{self.port}"]
            form = {"username": MAYA.email, "password": settings.DEMO_PASSWORD, "csrfmiddlewaretoken": token}
            browser.post("/sign-in", data=form)
            cookie = f"sessionid-{self.port}={browser.cookies[f'sessionid-{self.port}']}"
        address = f"ws://127.0.0.1:{self.port}/ws/desk/"
        with connect(address, origin=Origin(self.address), additional_headers={"Cookie": cookie}, proxy=None) as desk:
            desk.send(json.dumps({"type": "hello", "rev": 0}))
            yield desk

    def leaves_nothing(self) -> bool:
        return not any(map(_alive, self.children))

    def child_named(self, words: str) -> int:
        return next(pid for pid in _children_of(self.process.pid) if words in _command_of(pid))

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
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
    demo.children |= _children_of(demo.process.pid)
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
    assert _children_of(demo.process.pid) == others - {killed} | {demo.redis()}


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

    ended = _run_demo(_env_for(first.data_dir, first.port))

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

    ended = _run_demo(_env_for(tmp_path / "new" / "data", taken_port))

    assert ended.returncode == 1
    assert f"Port {taken_port} cannot be used" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert sorted(tmp_path.rglob("*")) == before


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
    ended = _run_demo(
        _env_for(
            tmp_path, free_port(), DEMO="off", SECRET_KEY="x" * 60, ALLOWED_HOSTS="shop.example", RETURN_ADDRESS="Shop"
        )
    )

    assert ended.returncode == 1
    assert "runs only in demo mode" in ended.stderr


def test_a_redis_that_does_not_answer_gets_a_sentence(start_demo: Callable[..., Demo]) -> None:
    demo = start_demo(REDIS_URL=f"redis://127.0.0.1:{free_port()}/0")

    assert demo.process.wait(STOP_SECONDS) == 1
    assert "Redis does not answer" in demo.terminal()


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


def _run_demo(env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", "demo"]
    return subprocess.run(command, cwd=CODE, env=env, capture_output=True, text=True, timeout=STOP_SECONDS)


def _could_bind(listener: socket.socket, port: int) -> bool:
    try:
        listener.bind(("127.0.0.1", port))
    except OSError:
        return False
    return True


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
