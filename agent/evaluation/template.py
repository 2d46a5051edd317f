"""A migrated, empty database: made once in the life of a process, copied for each scratch shop."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from pathlib import Path

from django.conf import settings

from agent.evaluation.owned_folder import OwnedFolder
from agent.evaluation.scratch_environment import DATABASE, ScratchTrouble, scratch_environment

logger = logging.getLogger(__name__)

MIGRATE_SECONDS = 180
LOGGED = 4000
NOT_MADE = "The scratch database could not be made; the log says why."

_lock = threading.Lock()
_folders: list[OwnedFolder] = []


def migrated_template() -> Path:
    """Made again when somebody cleaned up the temporary files. Raises ScratchTrouble."""
    with _lock:
        if not (_folders and _template_in(_folders[-1]).exists()):
            _folders.append(_made())
        return _template_in(_folders[-1])


def _template_in(folder: OwnedFolder) -> Path:
    return folder.path / DATABASE


def _made() -> OwnedFolder:
    """It is deleted when this process ends."""
    folder = OwnedFolder("template")
    try:
        done = subprocess.run(
            [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity", "0"],
            cwd=settings.BASE_DIR,
            env=scratch_environment(folder.path),
            capture_output=True,
            text=True,
            timeout=MIGRATE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ScratchTrouble(f"The scratch database was not ready within {MIGRATE_SECONDS} seconds.") from None
    if done.returncode != 0:
        logger.error("the scratch database could not be made: %s", done.stderr.strip()[-LOGGED:])
        raise ScratchTrouble(NOT_MADE)
    return folder
