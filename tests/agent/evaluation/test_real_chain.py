"""Nothing in the playing is special to the scripted model: another one is asked through the chain, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django.fixtures import Settings

from agent.evaluation.play_apart import play_case
from agent.llm.provider import Provider
from tests.agent.evaluation.cases import a_scenario
from tests.openai_server import OpenAIServer

CARAFE = a_scenario()


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


def test_the_configured_chain_is_asked(ollama: OpenAIServer) -> None:
    played = play_case(CARAFE, {})
    assert played.differences == []
    assert (played.provider, played.model) == ("ollama", "scripted/model-1")  # as its answers say
    assert {asked.body["model"] for asked in ollama.asked} == {"small"}
    assert (played.tokens_in, played.tokens_out) == (800 * len(ollama.asked), 40 * len(ollama.asked))


def test_another_model_of_a_provider_is_asked_and_nobody_stands_behind_it(ollama: OpenAIServer) -> None:
    played = play_case(CARAFE, {"provider": "ollama", "model": "large", "prompt": "Look twice."})
    assert played.differences == []
    assert {asked.body["model"] for asked in ollama.asked} == {"large"}
    assert ollama.asked[0].body["messages"][0]["content"].endswith("Look twice.")


def test_the_scripted_model_is_played_without_asking_anybody(ollama: OpenAIServer) -> None:
    played = play_case(CARAFE, {"provider": "scripted"})
    assert (played.provider, played.differences, ollama.asked) == ("scripted", [], [])
