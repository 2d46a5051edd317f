"""Takes back the empty folders that reading the settings made. Linux only: elsewhere nobody knows who made them."""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import time
from pathlib import Path

# The settings are read some time after the process began; a folder born before that belongs to somebody else.
SETTINGS_ARE_READ_AFTER_SECONDS = 0.05
AT_FDCWD, STATX_BTIME = -100, 0x800
STATX_BYTES, BIRTH_AT = 256, 80
_statx = getattr(ctypes.CDLL(None), "statx", None) if sys.platform == "linux" else None


def take_back(folder: Path) -> None:
    """Deletes `folder`, then its parents, as far as they are empty and were made by this process."""
    began = _process_began()
    for made in (folder, *folder.parents):
        born = _born(made)
        if born is None or born < began + SETTINGS_ARE_READ_AFTER_SECONDS:
            return
        try:
            made.rmdir()
        except OSError:  # something is in it
            return


def _born(path: Path) -> float | None:
    """Seconds since 1970; None where the file system does not say."""
    facts = ctypes.create_string_buffer(STATX_BYTES)
    if _statx is None or _statx(AT_FDCWD, os.fsencode(path), 0, STATX_BTIME, facts) != 0:
        return None
    (known,) = struct.unpack_from("=I", facts)
    seconds, nanoseconds = struct.unpack_from("=qI", facts, BIRTH_AT)
    return float(seconds + nanoseconds / 1e9) if known & STATX_BTIME else None


def _process_began() -> float:
    """Seconds since 1970, exact to a tick of the kernel."""
    words = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    after_boot = int(words[19]) / os.sysconf("SC_CLK_TCK")
    return time.time() - (time.clock_gettime(time.CLOCK_BOOTTIME) - after_boot)
