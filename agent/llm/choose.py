"""Which models work here: the chain of providers, with the scripted model last unless that is forbidden."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

from agent.llm.model_chain import Link, ModelChain
from agent.llm.openai_chat import OpenAIChat
from agent.llm.provider import Provider
from agent.llm.providers_now import providers_now, scripted_stands_last
from agent.llm.scripted import PROVIDER, ScriptedModel
from agent.llm.scripted_eyes import known_pictures


@dataclass(frozen=True)
class ModelChoice:
    """What pages say about the model that is asked first; no `provider`: none is, and people do the work."""

    provider: str
    model: str
    scripted: bool


def model_in_use() -> ModelChoice:
    providers = providers_now()
    if providers:
        return ModelChoice(providers[0].name, providers[0].model, scripted=False)
    if scripted_stands_last():
        return ModelChoice(PROVIDER, ScriptedModel.model, scripted=True)
    return ModelChoice("", "", scripted=False)


def reviewing_model() -> ModelChain:
    """The models that review and word messages, in the order they are asked."""
    return _chain([Link(_chat(provider, provider.model), provider) for provider in providers_now()])


def seeing_model() -> ModelChain:
    """The models that look at pictures. One without eyes stays in, so that the step can say it was passed over."""
    return _chain(
        [
            Link(_chat(provider, provider.vision_model or provider.model), provider, sees=bool(provider.vision_model))
            for provider in providers_now()
        ]
    )


def warm_up() -> None:
    """Before a worker takes its first run: the scripted eyes clean every demo picture once, about two seconds."""
    if scripted_stands_last():
        known_pictures()


def _chain(links: list[Link]) -> ModelChain:
    if scripted_stands_last():
        delay = settings.SCRIPTED_MODEL_DELAY_SECONDS
        links.append(Link(ScriptedModel(delay_seconds=delay), stands_in=True, waits=delay > 0))
    return ModelChain(tuple(links))


def _chat(provider: Provider, model: str) -> OpenAIChat:
    return OpenAIChat(
        provider.base_url,
        provider.api_key,
        model,
        provider=provider.name,
        timeout_seconds=provider.timeout_seconds,
    )
