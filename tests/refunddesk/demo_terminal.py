"""`manage.py demo` in a terminal of its own, and the processes under it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
from django.conf import settings
from websockets import Origin
from websockets.sync.client import ClientConnection, connect

from refunddesk.demo_shop.people import MAYA
from tests.processes import CODE, wait_until

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
            env=env_for(data_dir, port, **env),
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
        self.children = children_of(self.process.pid)

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
        return next(pid for pid in children_of(self.process.pid) if words in _command_of(pid))

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(STOP_SECONDS)


def run_demo(env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", "demo"]
    return subprocess.run(command, cwd=CODE, env=env, capture_output=True, text=True, timeout=STOP_SECONDS)


def env_for(data_dir: Path, port: int, **env: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG", "TMPDIR"}}
    return {**kept, "PORT": str(port), "DATA_DIR": str(data_dir), "PYTHONUNBUFFERED": "1", **env}


def children_of(pid: int) -> set[int]:
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
