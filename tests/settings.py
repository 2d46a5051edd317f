"""The product's settings with a private data folder, no broker and no live news; process tests bring real ones."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def _data_folder() -> str:
    """One folder for each of pytest's processes, so that none counts another's photos; programs they start share it."""
    folder = Path(os.environ.get("DATA_DIR") or tempfile.mkdtemp(prefix="refunddesk-tests-"))
    process = os.environ.get("PYTEST_XDIST_WORKER", "")
    return str(folder if folder.name == process else folder / process)


os.environ["DATA_DIR"] = _data_folder()
os.environ.setdefault("REDIS_URL", "memory://")
os.environ["LLM_API_KEY"] = os.environ["LLM_CHAIN"] = os.environ["SCRIPTED_MODEL"] = ""

from refunddesk.settings import *  # noqa: E402, F403
from refunddesk.settings import DATA_DIR, DATABASES  # noqa: E402

DATABASES["default"].setdefault("TEST", {})
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # A file, so that threads and worker processes see the same rows.
    DATABASES["default"]["TEST"]["NAME"] = str(Path(DATA_DIR) / "test.sqlite3")
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "sessionid", "csrftoken"
