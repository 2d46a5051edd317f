"""Which providers are asked, and in which order: the one place that reads the chain out of the settings."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings

from agent.llm.provider import Provider
from intake.model_set_up import scripted_may_stand_in

KNOWN_HOSTS = {"openrouter.ai": "openrouter", "api.openai.com": "openai"}


def providers_now() -> tuple[Provider, ...]:
    """In the order they are asked: LLM_CHAIN says it, else LLM_API_KEY is a chain of one. Empty: none is set up."""
    if settings.LLM_CHAIN:
        return tuple(settings.LLM_CHAIN)
    if not settings.LLM_API_KEY:
        return ()
    return (
        Provider(
            name=provider_name(settings.LLM_BASE_URL),
            base_url=settings.LLM_BASE_URL,
            api_key=settings.LLM_API_KEY,
            model=settings.LLM_MODEL,
            vision_model="" if settings.LLM_VISION_MODEL == "none" else settings.LLM_VISION_MODEL,
        ),
    )


def scripted_stands_last() -> bool:
    """The scripted model answers when no provider does; SCRIPTED_MODEL=never forbids it, and a person gets the case."""
    return scripted_may_stand_in()


def provider_name(base_url: str) -> str:
    """A short name for the record: `openrouter`, `openai`, else the host."""
    host = (urlsplit(base_url).hostname or base_url).lower()
    return KNOWN_HOSTS.get(host, host)[:40]
