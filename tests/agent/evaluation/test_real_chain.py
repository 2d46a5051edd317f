"""Nothing in the playing is special to the scripted model: another one is asked through the chain, over HTTP."""

from __future__ import annotations

from agent.evaluation.play_apart import play_case
from agent.prompts import PROMPT_VERSION
from tests.agent.evaluation.cases import a_scenario
from tests.openai_server import Canned, OpenAIServer

CARAFE = a_scenario()


def test_the_configured_chain_is_asked(ollama: OpenAIServer) -> None:
    played = play_case(CARAFE, {})
    assert played.differences == []
    assert (played.provider, played.model) == ("ollama", "scripted/model-1")  # as its answers say
    assert played.prompt_version == PROMPT_VERSION
    assert {asked.body["model"] for asked in ollama.asked} == {"small"}
    assert (played.tokens_in, played.tokens_out) == (800 * len(ollama.asked), 40 * len(ollama.asked))


def test_another_model_of_a_provider_is_asked_and_nobody_stands_behind_it(ollama: OpenAIServer) -> None:
    played = play_case(CARAFE, {"provider": "ollama", "model": "large", "prompt": "Look twice."})
    assert played.differences == []
    assert {asked.body["model"] for asked in ollama.asked} == {"large"}
    assert ollama.asked[0].body["messages"][0]["content"].endswith("Look twice.")
    assert len(ollama.asked[0].body["messages"][0]["content"]) > 1000  # the ordinary instructions stand before it
    assert played.prompt_version == f"{PROMPT_VERSION}+"


def test_the_scripted_model_is_played_without_asking_anybody(ollama: OpenAIServer) -> None:
    played = play_case(CARAFE, {"provider": "scripted"})
    assert (played.provider, played.differences, ollama.asked) == ("scripted", [], [])


def test_a_provider_that_answers_nothing_was_not_measured(ollama: OpenAIServer) -> None:
    ollama.canned.extend([Canned({"error": {"message": "no such key"}}, status=401)] * 20)
    played = play_case(CARAFE, {"provider": "ollama"})
    assert played.not_played == "No model answered a single call. See what `manage.py doctor` says of the provider."
    assert (played.passed, played.got) == (False, {})
