"""A bank of its own and no key of a model's provider, for the tests that ask for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.contrib.auth.models import User

from agent.llm.base import Message, Reply, ToolSpec
from agent.llm.scripted import ScriptedModel
from payments.providers.choose import PROVIDERS
from tests.factories import StaffFactory
from tests.fake_bank import FakeBank


@pytest.fixture
def bank(monkeypatch: pytest.MonkeyPatch) -> FakeBank:
    """Charges with `provider="bank"` are refunded by it."""
    fake = FakeBank()
    monkeypatch.setitem(PROVIDERS, "bank", fake)
    return fake


@pytest.fixture
def no_key(settings: Any) -> None:
    """The scripted model runs wherever no key is set."""
    settings.LLM_API_KEY = ""


@pytest.fixture
def maya(db: None) -> User:
    return StaffFactory()


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[list[Message]]:
    """Everything the scripted model and its eyes are told from now on, call by call."""
    heard: list[list[Message]] = []
    complete: Callable[..., Reply] = ScriptedModel.complete

    def listen(self: ScriptedModel, messages: Sequence[Message], tools: Sequence[ToolSpec], deadline: float) -> Reply:
        heard.append([dict(message) for message in messages])
        return complete(self, messages, tools, deadline)

    monkeypatch.setattr(ScriptedModel, "complete", listen)
    return heard
