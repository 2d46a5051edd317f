"""Linux only: asks the kernel to signal a process when its parent dies, even when that one was killed with -9."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def die_with_parent(parent: int, with_signal: int = signal.SIGKILL) -> None:
    """Runs in the child; `parent` is the process that started it, which may have died before this call."""
    if _libc is None:
        return
    _libc.prctl(PR_SET_PDEATHSIG, int(with_signal), 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), with_signal)
