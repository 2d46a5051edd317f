from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agent.llm import openai_chat
from intake.models import RefundRequest
from tests.agent.mind.cases import make_request
from tests.agent.mind.chains import provider, two_servers
from tests.openai_server import OpenAIServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """A chat endpoint of its own for each test, of which nothing is known yet."""
    monkeypatch.setattr(openai_chat, "_features", {})
    with OpenAIServer() as running:
        yield running


@pytest.fixture
def ask(db: None) -> Callable[..., RefundRequest]:
    return make_request


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses of a second and more pass at once, and nothing is known of any model."""
    monkeypatch.setattr(openai_chat, "_features", {})
    sleep = time.sleep
    monkeypatch.setattr(time, "sleep", lambda seconds: None if seconds >= 1 else sleep(seconds))


@pytest.fixture
def servers() -> Iterator[tuple[OpenAIServer, OpenAIServer]]:
    with two_servers() as both:
        yield both


@pytest.fixture
def first(servers: tuple[OpenAIServer, OpenAIServer], settings: Any) -> OpenAIServer:
    """The first of a chain of two, with nobody behind them."""
    settings.LLM_CHAIN = (provider("first", servers[0]), provider("second", servers[1]))
    settings.SCRIPTED_MODEL = "never"
    return servers[0]


@pytest.fixture
def second(first: OpenAIServer, servers: tuple[OpenAIServer, OpenAIServer]) -> OpenAIServer:
    return servers[1]
