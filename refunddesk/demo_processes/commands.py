"""How each program of the desk is started, here and in the tests."""

from __future__ import annotations

import sys

CLOSING_SECONDS = 2


def web_command(port: int) -> list[str]:
    """Web pages, API and websockets on 127.0.0.1:`port`; open pages get CLOSING_SECONDS when it ends."""
    return [
        *(sys.executable, "-m", "uvicorn", "refunddesk.asgi:application"),
        *("--host", "127.0.0.1", "--port", str(port)),
        *("--lifespan", "off"),
        *("--timeout-graceful-shutdown", str(CLOSING_SECONDS)),
    ]


def worker_command(name: str = "worker") -> list[str]:
    return [
        *(sys.executable, "-m", "celery", "-A", "refunddesk", "worker"),
        *("--hostname", f"{name}@%h"),
        *("--loglevel", "INFO", "--without-gossip", "--without-mingle"),
    ]


def beat_command() -> list[str]:
    return [sys.executable, "-m", "celery", "-A", "refunddesk", "beat", "--loglevel", "INFO", "--pidfile", ""]


def manage_command(*words: str) -> list[str]:
    return [sys.executable, "manage.py", *words]
