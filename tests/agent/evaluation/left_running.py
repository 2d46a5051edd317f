"""Finds scratch processes by their environment, whoever started them."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

PATIENCE_SECONDS = 60.0  # a migration stands before the first one


def scratch_processes(folder: Path) -> list[int]:
    """Processes whose data folder begins with `folder`."""
    wanted = f"DATA_DIR={folder}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            environment = (process / "environ").read_bytes().split(b"\0")
            if any(entry.startswith(wanted) for entry in environment):
                found.append(int(process.name))
    return found


def wait_for_count(folder: Path, count: int) -> list[int]:
    """The scratch processes in `folder` once there are `count` of them; raises AssertionError after a while."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        found = scratch_processes(folder)
        if len(found) == count:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{len(scratch_processes(folder))} scratch processes, expected {count}")
