"""Commands in another terminal find the demo of their DATA_DIR without being told its port."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from refunddesk.demo_processes.port_file import kept, port_of_the_demo


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("PORT", raising=False)
    settings.DATA_DIR, settings.PORT = tmp_path, 8000
    return tmp_path


def test_the_port_is_known_while_the_demo_lives_and_forgotten_after_it(folder: Path) -> None:
    with kept(folder, 8350):
        assert port_of_the_demo() == 8350
    assert port_of_the_demo() == 8000
    assert list(folder.iterdir()) == []


def test_a_port_that_is_given_counts_more(folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "8123")
    settings.PORT = 8123
    with kept(folder, 8350):
        assert port_of_the_demo() == 8123


def test_a_file_that_cannot_be_read_is_as_none(folder: Path) -> None:
    (folder / "port").write_text("half")
    assert port_of_the_demo() == 8000
