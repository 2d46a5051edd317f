"""Temporary folders that say whether their process still lives, so that what a killed one left can be deleted."""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

logger = logging.getLogger(__name__)

PREFIX = "refunddesk-scratch-"
# Its owner holds a lock on this file; the system lets go of it when the process ends, however it ends.
HELD = "held"
# A folder younger than this may be one whose owner has not come to lock it.
YOUNG_SECONDS = 60.0


class OwnedFolder:
    """`path` until `remove`, or until this process ends in an orderly way."""

    def __init__(self, purpose: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix=f"{PREFIX}{purpose}-", ignore_cleanup_errors=True)
        self.path = Path(self._folder.name)
        self._held = os.open(self.path / HELD, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._held, fcntl.LOCK_EX)

    def remove(self) -> None:
        self._folder.cleanup()
        os.close(self._held)


def remove_left_behind() -> int:
    """Deletes the scratch folders whose process is gone, with the photos and rows in them; returns how many."""
    removed = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # of another user, or just being deleted by its owner
            if time.time() - folder.stat().st_mtime > YOUNG_SECONDS and not _is_held(folder):
                shutil.rmtree(folder)
                removed += 1
    if removed:
        logger.warning("%s scratch folders of processes that are gone were deleted", removed)
    return removed


def _is_held(folder: Path) -> bool:
    """Raises OSError when the folder may not be looked into."""
    held = os.open(folder / HELD, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(held)
    return False
