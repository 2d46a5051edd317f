"""A private PostgreSQL for the tests, in a temporary folder; as a program it runs a command with DATABASE_URL at it."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from refunddesk.demo_processes.child import Child
from refunddesk.demo_processes.local_redis import free_port

START_SECONDS = 30
STOP_SECONDS = 10
UNPRIVILEGED = ("postgres", "nobody")
FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200")


class NoPostgres(Exception):
    """No PostgreSQL was found; the sentence names the package."""


def find_binary(name: str) -> Path:
    """`name` from the PATH, else of the newest version in Debian's place. Raises NoPostgres."""
    found = shutil.which(name)
    if found:
        return Path(found)
    installed = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[4]))
    if not installed:
        raise NoPostgres(f"{name} was not found: install the package postgresql (apt-get install postgresql).")
    return installed[-1]


@contextmanager
def cluster() -> Iterator[str]:
    """The URL of a fresh cluster's database `postgres`; it is gone afterwards. Raises NoPostgres."""
    initdb, postgres = find_binary("initdb"), find_binary("postgres")
    user = _unprivileged_user()
    folder = Path(tempfile.mkdtemp(prefix="refunddesk-postgres-"))
    if user:
        shutil.chown(folder, user)
    port = free_port()
    make = [str(initdb), "-D", str(folder / "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"]
    server = None
    try:
        subprocess.run(make, check=True, capture_output=True, user=user, cwd=folder, env=_plain_env())
        server = Child(
            "postgres",
            [str(postgres), "-D", str(folder / "data"), *_options(port)],
            env=_plain_env(),
            folder=folder,
            log=_log_for(folder, user),
            user=user,
        )
        url = f"postgres://postgres@127.0.0.1:{port}/postgres"
        _wait_for(url, server)
        yield url
    finally:
        if server is not None:
            server.send(signal.SIGINT)
            server.wait(STOP_SECONDS)
            server.end(grace_seconds=0)
        shutil.rmtree(folder, ignore_errors=True)


def _options(port: int) -> list[str]:
    address = ["-p", str(port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]
    return address + [word for option in FAST for word in ("-c", option)]


def _unprivileged_user() -> str | None:
    """PostgreSQL does not run as root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in UNPRIVILEGED if name in names)


def _plain_env() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"}


def _log_for(folder: Path, user: str | None) -> Path:
    log = folder / "log"
    log.touch()
    if user:
        shutil.chown(log, user)
    return log


def _wait_for(url: str, server: Child) -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            psycopg.connect(url, connect_timeout=2).close()
            return
        except psycopg.OperationalError:
            if not server.running or time.monotonic() > until:
                raise RuntimeError(f"PostgreSQL did not start:\n{server.last_lines()}") from None
            time.sleep(0.1)


def _before_django() -> dict[str, str]:
    """Importing the desk's own modules names its settings; the command names its own."""
    return {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}


def main() -> int:
    command = sys.argv[1:]
    try:
        with cluster() as url:
            return subprocess.run(command, env={**_before_django(), "DATABASE_URL": url}, check=False).returncode
    except NoPostgres as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
