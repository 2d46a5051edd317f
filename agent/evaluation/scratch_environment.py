"""An environment in which nothing of the shop can be reached: neither its rows nor its photos, its broker or money."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path

from django.conf import settings

from agent.evaluation.ground import GROUND_SETTINGS

DATABASE = "scratch.sqlite3"
# A process plays only where this file lies beside its database.
MARKER = "a-scratch-folder-of-an-evaluation"
NOTHING_OF_THE_SHOP = {
    "REDIS_URL": "memory://",
    "STRIPE_SECRET_KEY": "",
    "STRIPE_WEBHOOK_SECRET": "",
    "STRIPE_API_BASE": "",
    "PHOTO_BUCKET": "",
    "SCRIPTED_MODEL_DELAY_SECONDS": "0",
    "LOG_LEVEL": "ERROR",
}


# What a Python process needs of the machine, the way to the models, their keys, and numbers and switches of ours.
SHARED = re.compile(
    r"PATH|HOME|USER|LANG|LC_\w+|TZ|TMPDIR|LD_LIBRARY_PATH|VIRTUAL_ENV|PYTHON\w+|DJANGO_SETTINGS_MODULE"
    r"|(?i:https?_proxy|all_proxy|no_proxy)|SSL_CERT_FILE|SSL_CERT_DIR|REQUESTS_CA_BUNDLE"
    r"|LLM_\w+|SCRIPTED_MODEL|RUN_LEASE_SECONDS|RUN_MAX_\w+|REVIEW_MAX_\w+|CALL_MAX_SECONDS"
    r"|SHOP_NAME|RETURN_ADDRESS|DEMO|DEBUG|PORT|SWEEP_SECONDS|ANNOUNCE_AGAIN_SECONDS|WORKER_THREADS|SECURE_\w+|\w+_CENTS|\w+_DAYS|\w+_MINUTES"
)
# As the settings read the file: they take a name from it that the environment does not have.
ENV_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=")


class ScratchTrouble(Exception):
    """The scratch shop could not be made; `sentence` says why."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


def scratch_environment(place: Path) -> dict[str, str]:
    """For a process whose database and photos lie in `place`. Of this one it gets what SHARED names, the models' keys
    among them, and nothing else: neither another key nor a name that the file `.env` may give to both."""
    return {
        **dict.fromkeys(_not_shared_names_of(settings.BASE_DIR / ".env"), ""),
        **{name: value for name, value in os.environ.items() if SHARED.fullmatch(name)},
        **NOTHING_OF_THE_SHOP,
        "SECRET_KEY": secrets.token_urlsafe(64),
        **GROUND_SETTINGS,
        "DATABASE_URL": f"sqlite:///{place / DATABASE}",
        "DATA_DIR": str(place),
        "PYTHONUNBUFFERED": "1",
    }


def _not_shared_names_of(file: Path) -> list[str]:
    """An empty value in the environment holds against one in the file. No names when there is no such file."""
    if not file.is_file():
        return []
    found = map(ENV_LINE.match, file.read_text(encoding="utf-8", errors="replace").splitlines())
    return [match[1] for match in found if match and not SHARED.fullmatch(match[1])]


def must_be_scratch(databases: Mapping[str, Mapping[str, object]]) -> Path:
    """The database file of this process. Raises ScratchTrouble unless it lies in a scratch folder."""
    database = databases["default"]
    name = Path(str(database["NAME"]))
    if database["ENGINE"] != "django.db.backends.sqlite3" or not name.with_name(MARKER).exists():
        raise ScratchTrouble("Scenarios are played in a scratch database only; `manage.py evaluate` makes one.")
    return name
