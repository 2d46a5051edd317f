from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from agent.llm import openai_chat
from intake.models import RefundRequest
from tests.agent.mind.cases import make_request
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
