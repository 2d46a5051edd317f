"""An environment in which nothing of the shop can be reached: neither its rows nor its photos, its broker or money."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

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


class ScratchTrouble(Exception):
    """The scratch shop could not be made; `sentence` says why."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


def scratch_environment(place: Path) -> dict[str, str]:
    """For a process whose database and photos lie in `place`. The model's keys are the only thing it shares."""
    return {
        **os.environ,
        **NOTHING_OF_THE_SHOP,
        **GROUND_SETTINGS,
        "DATABASE_URL": f"sqlite:///{place / DATABASE}",
        "DATA_DIR": str(place),
        "PYTHONUNBUFFERED": "1",
    }


def must_be_scratch(databases: Mapping[str, Mapping[str, object]]) -> Path:
    """The database file of this process. Raises ScratchTrouble unless it lies in a scratch folder."""
    database = databases["default"]
    name = Path(str(database["NAME"]))
    if database["ENGINE"] != "django.db.backends.sqlite3" or not name.with_name(MARKER).exists():
        raise ScratchTrouble("Scenarios are played in a scratch database only; `manage.py evaluate` makes one.")
    return name
