"""What a scratch process leaves in the temporary folder: nothing, also when its parent is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from agent.evaluation.owned_folder import OwnedFolder, remove_left_behind
from tests.processes import CODE, wait_until

pytestmark = pytest.mark.timeout(180)
# Tells the folder of its child, then waits for an answer that the test does not wait for.
PARENT = """
import time
import django
django.setup()
from agent.evaluation.child import Child
from agent.evaluation.scratch import scratch_folder
with scratch_folder() as scratch, Child(scratch) as child:
    child.wait_until_ready()
    print(child._place, flush=True)
    time.sleep(60)
"""


def test_a_process_whose_parent_is_killed_deletes_the_copied_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parent is a real process."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT],
        cwd=CODE,
        env={**os.environ, "TMPDIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "refunddesk.settings"},
        stdout=subprocess.PIPE,
        text=True,
    )
    with parent:
        assert parent.stdout is not None
        place = Path(parent.stdout.readline().strip())
        assert place.is_relative_to(tmp_path)
        assert list(place.glob("*.sqlite3"))
        parent.kill()
    wait_until(lambda: not place.exists(), 20, "the scratch process deleted its place")
    for folder in tmp_path.glob("refunddesk-scratch-*"):
        os.utime(folder, (0, 0))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert remove_left_behind() == 2  # what held the place, and the template
    assert list(tmp_path.glob("refunddesk-scratch-*")) == []


def test_the_folder_of_a_living_process_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = OwnedFolder("evaluation")
    os.utime(folder.path, (0, 0))
    assert remove_left_behind() == 0
    assert folder.path.exists()
    folder.remove()
    (tmp_path / "refunddesk-scratch-evaluation-young").mkdir()
    assert remove_left_behind() == 0
    assert (tmp_path / "refunddesk-scratch-evaluation-young").exists()
