from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.evaluation.scratch import Scratch, scratch_folder


@pytest.fixture(scope="session")
def scratch() -> Iterator[Scratch]:
    """A scratch folder with its migrated template; each child of it has a name of its own."""
    with scratch_folder() as made:
        yield made
