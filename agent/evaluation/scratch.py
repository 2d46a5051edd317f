"""The folder a measuring lives in: a migrated template database, and for each child a copy and an environment in
which nothing of the shop can be reached, neither its rows nor its photos, its broker or its money."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from agent.evaluation.ground import GROUND_SETTINGS

DATABASE = "scratch.sqlite3"
TEMPLATE = "template.sqlite3"
# A process plays only where this file lies beside its database.
MARKER = "a-scratch-folder-of-an-evaluation"
MIGRATE_SECONDS = 180
TAIL = 600
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


class Scratch:
    """`with scratch_folder() as scratch:` until the block ends; then everything in it is deleted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def make_template(self) -> None:
        """Migrates the template, once. Raises ScratchTrouble."""
        place = self._place("template")
        command = [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity", "0"]
        try:
            done = subprocess.run(  # noqa: S603 - our own command
                command,
                cwd=settings.BASE_DIR,
                env=self.environment(place),
                capture_output=True,
                text=True,
                timeout=MIGRATE_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise ScratchTrouble(f"The scratch database was not ready within {MIGRATE_SECONDS} seconds.") from None
        if done.returncode != 0:
            raise ScratchTrouble(f"The scratch database could not be made: {done.stderr.strip()[-TAIL:]}")
        shutil.move(place / DATABASE, self.folder / TEMPLATE)

    def new_place(self, name: str) -> Path:
        """A child's own folder with a copy of the template."""
        place = self._place(name)
        shutil.copyfile(self.folder / TEMPLATE, place / DATABASE)
        return place

    def environment(self, place: Path) -> dict[str, str]:
        return {
            **os.environ,
            **NOTHING_OF_THE_SHOP,
            **GROUND_SETTINGS,
            "DATABASE_URL": f"sqlite:///{place / DATABASE}",
            "DATA_DIR": str(place),
            "PYTHONUNBUFFERED": "1",
        }

    def _place(self, name: str) -> Path:
        place = self.folder / name
        place.mkdir()
        (place / MARKER).touch()
        return place


@contextmanager
def scratch_folder() -> Iterator[Scratch]:
    """Raises ScratchTrouble when the template cannot be made."""
    with tempfile.TemporaryDirectory(prefix="refunddesk-evaluation-", ignore_cleanup_errors=True) as folder:
        scratch = Scratch(Path(folder))
        scratch.make_template()
        yield scratch


def must_be_scratch(databases: Mapping[str, Mapping[str, object]]) -> Path:
    """The database file of this process. Raises ScratchTrouble unless it lies in a scratch folder."""
    database = databases["default"]
    name = Path(str(database["NAME"]))
    if database["ENGINE"] != "django.db.backends.sqlite3" or not name.with_name(MARKER).exists():
        raise ScratchTrouble("Scenarios are played in a scratch database only; `manage.py evaluate` makes one.")
    return name
