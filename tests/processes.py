"""Real programs for tests: Redis, a worker, a web server. Each is its own process and is gone after the test."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import redis
from django.conf import settings
from django.db import connection

from refunddesk.demo_processes.answers import health_at
from refunddesk.demo_processes.child import Child
from refunddesk.demo_processes.commands import beat_command, web_command, worker_command
from refunddesk.demo_processes.local_redis import free_port, server_command
from refunddesk.schedule import CLOCK_QUEUE, RUNS_QUEUE

CODE = Path(__file__).resolve().parent.parent
START_SECONDS = 30


def wait_until(holds: Callable[[], Any], seconds: float = 15.0, what: str = "") -> Any:
    """The first true answer of `holds`, asked again every 20 ms; fails after `seconds`."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        answer = holds()
        if answer:
            return answer
        time.sleep(0.02)
    raise AssertionError(f"did not happen within {seconds} seconds: {what or holds}")


class RedisServer:
    """A server on a port of its own, which it keeps when it is killed and started again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._server = self._start()

    def client(self) -> redis.Redis:
        return redis.Redis.from_url(self.url, socket_timeout=2, socket_connect_timeout=2)

    def answers(self) -> bool:
        try:
            with self.client() as client:
                return bool(client.ping())
        except redis.RedisError:
            return False

    def kill(self) -> None:
        self._server.end(grace_seconds=0)

    def start_again(self) -> None:
        self._server = self._start()

    def freeze(self) -> None:
        """It accepts connections and never answers."""
        self._server.freeze()

    def thaw(self) -> None:
        self._server.thaw()

    def empty(self) -> None:
        with self.client() as client:
            client.flushall()

    def _start(self) -> Child:
        command = server_command(self.port, self._folder)
        log = self._folder / "redis.log"
        server = Child("redis", command, env=os.environ, folder=self._folder, log=log)
        wait_until(self.answers, START_SECONDS, "Redis answers")
        return server


class DeskPrograms:
    """Starts the desk's programs with the product's settings on the test's database; `stop` ends all of them."""

    def __init__(self, redis_url: str, logs: Path) -> None:
        self._redis_url = redis_url
        self._logs = logs
        self._started: list[Child] = []

    def worker(self, **env: str) -> Child:
        """A worker that takes all tasks. `env`: settings such as SCRIPTED_MODEL_DELAY_SECONDS="2"."""
        name = f"worker{len(self._started)}"
        worker = self._start(name, worker_command(name, (RUNS_QUEUE, CLOCK_QUEUE)), env)
        wait_until(lambda: _says(worker, "ready."), START_SECONDS, "the worker is ready")
        return worker

    def beat(self, **env: str) -> Child:
        command = [*beat_command(), "--schedule", str(self._logs / "beat-schedule")]
        return self._start("beat", command, env)

    def web(self, **env: str) -> tuple[Child, str]:
        """A web server and its address, without a slash at the end."""
        port = free_port()
        web = self._start("web", web_command(port), {"PORT": str(port), **env})
        wait_until(lambda: health_at(port), START_SECONDS, "the web server answers")
        return web, f"http://127.0.0.1:{port}"

    def stop(self) -> None:
        for child in reversed(self._started):
            child.thaw()
            child.end(grace_seconds=3)

    def _start(self, name: str, command: list[str], env: Mapping[str, str]) -> Child:
        log = self._logs / f"{name}-{len(self._started)}.log"
        child = Child(name, command, env={**desk_env(self._redis_url), **env}, folder=CODE, log=log)
        self._started.append(child)
        return child


def desk_env(redis_url: str) -> dict[str, str]:
    """The environment in which a program of the desk sees the rows of the running test."""
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "refunddesk.settings",
        "DATA_DIR": str(settings.DATA_DIR),
        "DATABASE_URL": database_url_of_test(),
        "REDIS_URL": redis_url,
        "LLM_API_KEY": "",
        "LLM_CHAIN": "",
        "PYTHONUNBUFFERED": "1",
    }


def database_url_of_test() -> str:
    """Where the running test's rows are; only a test with committed rows shows them to other processes."""
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{database['NAME']}"
    return f"postgres://{database['USER']}@{database['HOST']}:{database['PORT']}/{database['NAME']}"


def _says(child: Child, words: str) -> bool:
    if not child.running:
        raise AssertionError(f"the {child.name} ended by itself:\n{child.last_lines(30)}")
    return words in child.log.read_text(errors="replace")
