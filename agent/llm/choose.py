"""Which model works here: the one behind the key when there is a key, else the scripted one."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

from agent.llm.base import ChatModel
from agent.llm.openai_chat import OpenAIChat, provider_name
from agent.llm.scripted import PROVIDER, ScriptedModel
from agent.llm.scripted_eyes import known_pictures


@dataclass(frozen=True)
class ModelChoice:
    """What pages and the doctor say about the model in use."""

    provider: str
    model: str
    scripted: bool


def model_in_use() -> ModelChoice:
    if not settings.LLM_API_KEY:
        return ModelChoice(PROVIDER, ScriptedModel.model, scripted=True)
    return ModelChoice(provider_name(settings.LLM_BASE_URL), settings.LLM_MODEL, scripted=False)


def reviewing_model() -> ChatModel:
    """The model that reviews and words messages."""
    return _model(settings.LLM_MODEL)


def seeing_model() -> ChatModel:
    """The model that looks at pictures."""
    return _model(settings.LLM_VISION_MODEL)


def warm_up() -> None:
    """Before a worker takes its first run: the scripted eyes clean every demo picture once, about two seconds."""
    if not settings.LLM_API_KEY:
        known_pictures()


def _model(name: str) -> ChatModel:
    if not settings.LLM_API_KEY:
        return ScriptedModel(delay_seconds=settings.SCRIPTED_MODEL_DELAY_SECONDS)
    return OpenAIChat(settings.LLM_BASE_URL, settings.LLM_API_KEY, name)
