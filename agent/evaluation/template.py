"""A migrated, empty database: made once in the life of a process, copied for each scratch shop."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from django.conf import settings

from agent.evaluation.scratch_environment import DATABASE, ScratchTrouble, scratch_environment

MIGRATE_SECONDS = 180
TAIL = 600

_lock = threading.Lock()
_folders: list[tempfile.TemporaryDirectory[str]] = []


def migrated_template() -> Path:
    """Made again when somebody cleaned up the temporary files. Raises ScratchTrouble."""
    with _lock:
        if not (_folders and _template_in(_folders[-1]).exists()):
            _folders.append(_made())
        return _template_in(_folders[-1])


def _template_in(folder: tempfile.TemporaryDirectory[str]) -> Path:
    return Path(folder.name) / DATABASE


def _made() -> tempfile.TemporaryDirectory[str]:
    """It is deleted when this process ends."""
    folder = tempfile.TemporaryDirectory(prefix="refunddesk-template-", ignore_cleanup_errors=True)
    try:
        done = subprocess.run(
            [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity", "0"],
            cwd=settings.BASE_DIR,
            env=scratch_environment(Path(folder.name)),
            capture_output=True,
            text=True,
            timeout=MIGRATE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ScratchTrouble(f"The scratch database was not ready within {MIGRATE_SECONDS} seconds.") from None
    if done.returncode != 0:
        raise ScratchTrouble(f"The scratch database could not be made: {done.stderr.strip()[-TAIL:]}")
    return folder
