"""The programs of the demo under one roof: started in order, ended together."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping

from refunddesk.demo_processes.child import Child
from refunddesk.demo_processes.commands import (
    beat_command,
    clock_command,
    manage_command,
    web_command,
    worker_command,
)
from refunddesk.demo_processes.data_folder import write_atomically
from refunddesk.demo_processes.local_redis import NoServer, free_port, server_command
from refunddesk.demo_processes.place import Place
from refunddesk.demo_processes.refusal import DemoRefused

GRACE_SECONDS = 5
STARTED_AGAIN = ("redis", "worker", "clock", "beat")


class House:
    """`programs` by name, in the order in which they were started; `more_env` is for the desk's own programs."""

    def __init__(self, place: Place, more_env: Mapping[str, str] | None = None) -> None:
        self.place = place
        self._more_env = dict(more_env or {})
        self.programs: dict[str, Child] = {}
        self.redis_url = place.redis_url
        self._commands = {
            "seed": manage_command("seed"),
            "web": web_command(place.port),
            "worker": worker_command(),
            "clock": clock_command(),
            "beat": beat_command(),
        }
        place.logs.mkdir(exist_ok=True)

    def start_redis(self) -> None:
        """Does nothing when the place has a Redis of its own. Raises DemoRefused when there is no server to start."""
        if self.redis_url:
            return
        port = free_port()
        try:
            self._commands["redis"] = server_command(port, self.place.data_dir)
        except NoServer as error:
            raise DemoRefused(str(error)) from error
        self._start("redis")
        self.redis_url = f"redis://127.0.0.1:{port}/0"
        write_atomically(self.place.redis_url_file, self.redis_url)

    def start_desk(self) -> None:
        self.start_web()
        for name in ("worker", "clock", "beat"):
            self._start(name)

    def start_web(self) -> None:
        self._start("web", keep_log="web" in self.programs)

    def start_seed(self) -> Child:
        """The one program that is meant to end by itself; it is not among `ended`."""
        return self._start("seed")

    def start_again(self, name: str) -> None:
        """`name`: one of STARTED_AGAIN. Redis comes back where the others look for it."""
        self.programs.pop(name).end(grace_seconds=0)
        self._start(name, keep_log=True)

    def ended(self) -> list[Child]:
        return [program for name, program in self.programs.items() if name != "seed" and not program.running]

    def end(self, hurry: threading.Event) -> None:
        """Redis goes last; whoever is not done after GRACE_SECONDS, or once `hurry` is set, is killed."""
        redis = self.programs.pop("redis", None)
        others = list(self.programs.values())
        for program in others:
            program.ask_to_end()
        until = time.monotonic() + GRACE_SECONDS
        while any(program.running for program in others) and time.monotonic() < until and not hurry.is_set():
            time.sleep(0.02)
        for program in others:
            program.end(grace_seconds=0)
        if redis is not None:
            redis.end(grace_seconds=GRACE_SECONDS)
            self.place.redis_url_file.unlink(missing_ok=True)

    def _start(self, name: str, *, keep_log: bool = False) -> Child:
        log = self.place.logs / f"{name}.log"
        if log.exists() and not keep_log:
            log.replace(log.with_suffix(".log.1"))
        command = self._commands[name]
        self.programs[name] = Child(name, command, env=self._env(), folder=self.place.code, log=log)
        return self.programs[name]

    def _env(self) -> dict[str, str]:
        return {
            **os.environ,
            "PORT": str(self.place.port),
            "DATA_DIR": str(self.place.data_dir),
            "REDIS_URL": self.redis_url,
            "PYTHONUNBUFFERED": "1",
            **self._more_env,
        }
