"""The demo's folder: writable, and held by one demo at a time."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from refunddesk.demo_processes.refusal import DemoRefused

LOCK_NAME = "demo.lock"


@contextmanager
def held(folder: Path, address: str) -> Iterator[None]:
    """Holds the folder until this process ends, however it ends. Raises DemoRefused."""
    _must_be_writable(folder)
    with (folder / LOCK_NAME).open("a+") as lock:
        _take(lock, folder)
        lock.truncate(0)
        lock.write(f"process {os.getpid()}, {address}")
        lock.flush()
        try:
            yield
        finally:
            lock.truncate(0)


def must_not_be_held(folder: Path) -> None:
    """Raises DemoRefused when a demo lives there; leaves no lock where there was none."""
    with suppress(FileNotFoundError, PermissionError), (folder / LOCK_NAME).open("r+") as lock:
        _take(lock, folder)


def write_atomically(path: Path, text: str) -> None:
    """Whoever reads `path` finds the old text or the new one, never half of it."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    with os.fdopen(handle, "w") as file:
        file.write(text)
    os.replace(name, path)


def _take(lock: TextIO, folder: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        raise DemoRefused(
            f"A demo already runs in {folder} ({lock.read().strip() or 'it is just starting'}). Stop it with "
            f"Ctrl-C, or give this one a place of its own: make demo PORT=8001 DATA_DIR=./var2"
        ) from None


def _must_be_writable(folder: Path) -> None:
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise DemoRefused(
            f"The folder {folder} cannot be written ({error.strerror}). Make it writable, or choose another: "
            f"make demo DATA_DIR=/path/to/folder"
        ) from error
