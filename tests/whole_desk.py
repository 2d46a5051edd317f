"""A whole desk of its own for a test: Redis, web, worker and beat as the demo starts them, on a database of its own."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from refunddesk.demo_processes.commands import manage_command
from refunddesk.demo_processes.house import House
from refunddesk.demo_processes.local_redis import free_port
from refunddesk.demo_processes.opening import open_house
from refunddesk.demo_processes.place import Place
from refunddesk.demo_processes.stop_signals import StopSignals
from tests.processes import CODE

COMMAND_SECONDS = 400


@dataclass(frozen=True)
class WholeDesk:
    house: House
    env: dict[str, str]

    @property
    def address(self) -> str:
        return self.house.place.address.rstrip("/")

    def manage(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs a management command beside the running desk, as a person in a second terminal would."""
        env = {**self.env, "REDIS_URL": self.house.redis_url}
        return _run(words, env)


@contextmanager
def whole_desk(
    data_dir: Path, database_url: str = "", more_env: Mapping[str, str] | None = None
) -> Iterator[WholeDesk]:
    """Seeded and answering. `database_url` empty: an SQLite file in `data_dir`."""
    port = free_port()
    desk_env = {
        "DJANGO_SETTINGS_MODULE": "refunddesk.settings",
        "DATABASE_URL": database_url,
        "LLM_API_KEY": "",
        "LLM_CHAIN": "",
        **(more_env or {}),
    }
    env = {**os.environ, **desk_env, "PORT": str(port), "DATA_DIR": str(data_dir)}
    place = Place(port=port, data_dir=data_dir, code=CODE, redis_url="", redis_url_file=data_dir / "redis-url")
    migrated = _run(["migrate", "--verbosity", "0"], env)
    assert migrated.returncode == 0, migrated.stderr
    house = House(place, desk_env)
    try:
        open_house(house, StopSignals())
        yield WholeDesk(house, env)
    finally:
        house.end(threading.Event())


def new_database(postgres_url: str, name: str) -> str:
    """The URL of a fresh database in that cluster."""
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
    return postgres_url.rsplit("/", 1)[0] + f"/{name}"


def _run(words: tuple[str, ...] | list[str], env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    command = manage_command(*words)
    return subprocess.run(
        command, cwd=CODE, env=dict(env), capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False
    )
