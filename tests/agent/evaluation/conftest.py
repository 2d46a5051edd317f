from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from pytest_django.fixtures import Settings

from agent.evaluation import run_again
from agent.evaluation.scratch import Scratch, scratch_folder
from agent.llm.provider import Provider
from tests.agent.evaluation.copies import LEAD
from tests.factories import StaffFactory
from tests.openai_server import OpenAIServer


@pytest.fixture(scope="session")
def scratch() -> Iterator[Scratch]:
    """A scratch folder with its migrated template; each child of it has a name of its own."""
    with scratch_folder() as made:
        yield made


@pytest.fixture
def ollama(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """A provider in the chain of this process, and in the environment that its scratch processes read."""
    with OpenAIServer() as server:
        settings.LLM_CHAIN = (Provider("ollama", server.url, "", "small", "small"),)
        monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "refunddesk.settings")
        monkeypatch.setenv("LLM_CHAIN", "ollama")
        monkeypatch.setenv("LLM_OLLAMA_BASE_URL", server.url)
        monkeypatch.setenv("LLM_OLLAMA_MODEL", "small")
        yield server


@pytest.fixture
def lead(db: None) -> User:
    return StaffFactory(permissions=LEAD)


@pytest.fixture
def bells(monkeypatch: pytest.MonkeyPatch) -> list[uuid.UUID]:
    """The copies that were announced, instead of a broker."""
    heard: list[uuid.UUID] = []

    def hear(evaluation_id: uuid.UUID) -> bool:
        heard.append(evaluation_id)
        return True

    monkeypatch.setattr(run_again, "ring", hear)
    return heard
