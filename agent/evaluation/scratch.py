"""The folder a measuring lives in: each child has a place of its own there, with a copy of the template."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.evaluation.owned_folder import OwnedFolder, remove_left_behind
from agent.evaluation.scratch_environment import DATABASE, MARKER
from agent.evaluation.template import migrated_template


class Scratch:
    """`with scratch_folder() as scratch:` until the block ends; then everything in it is deleted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._template = migrated_template()

    def new_place(self) -> Path:
        place = Path(tempfile.mkdtemp(dir=self.folder))
        (place / MARKER).touch()
        shutil.copyfile(self._template, place / DATABASE)
        return place


@contextmanager
def scratch_folder() -> Iterator[Scratch]:
    """Raises ScratchTrouble when the template cannot be made."""
    remove_left_behind()
    folder = OwnedFolder("evaluation")
    try:
        yield Scratch(folder.path)
    finally:
        folder.remove()
