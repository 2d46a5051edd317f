"""The port a demo answers at, kept in its folder, so that commands in another terminal find it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from refunddesk.demo_processes.data_folder import write_atomically

FILE_NAME = "port"


@contextmanager
def kept(folder: Path, port: int) -> Iterator[None]:
    """While this lasts, `folder` says at which port its demo answers."""
    file = folder / FILE_NAME
    write_atomically(file, str(port))
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def port_of_the_demo() -> int:
    """PORT where it is given, else the port of the demo that lives in DATA_DIR, else the usual one."""
    if os.environ.get("PORT"):
        return settings.PORT
    try:
        return int((settings.DATA_DIR / FILE_NAME).read_text())
    except (OSError, ValueError):
        return settings.PORT
