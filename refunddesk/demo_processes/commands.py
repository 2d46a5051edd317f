"""How each program of the desk is started, here and in the tests."""

from __future__ import annotations

import sys

from refunddesk.schedule import CLOCK_QUEUE, RUNS_QUEUE

CLOSING_SECONDS = 2
CLOCK_THREADS = 4


def web_command(port: int) -> list[str]:
    """Web pages, API and websockets on 127.0.0.1:`port`; open pages get CLOSING_SECONDS when it ends."""
    return [
        *(sys.executable, "-m", "uvicorn", "refunddesk.asgi:application"),
        *("--host", "127.0.0.1", "--port", str(port)),
        *("--lifespan", "off"),
        *("--timeout-graceful-shutdown", str(CLOSING_SECONDS)),
    ]


def worker_command(name: str = "worker", queues: tuple[str, ...] = (RUNS_QUEUE,)) -> list[str]:
    return [
        *(sys.executable, "-m", "celery", "-A", "refunddesk", "worker"),
        *("--hostname", f"{name}@%h", "--queues", ",".join(queues)),
        *("--loglevel", "INFO", "--without-gossip", "--without-mingle"),
    ]


def clock_command() -> list[str]:
    """The small worker that does what beat asks for, however busy the one for runs is."""
    return [*worker_command("clock", (CLOCK_QUEUE,)), "--concurrency", str(CLOCK_THREADS)]


def beat_command() -> list[str]:
    return [sys.executable, "-m", "celery", "-A", "refunddesk", "beat", "--loglevel", "INFO", "--pidfile", ""]


def manage_command(*words: str) -> list[str]:
    return [sys.executable, "manage.py", *words]
