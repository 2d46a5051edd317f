"""Which providers a measuring asks: the chain as it is configured, or one of its models alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agent.evaluation.options import BadOptions, Options
from agent.llm.provider import Provider
from agent.llm.providers_now import providers_now
from agent.llm.scripted import PROVIDER as SCRIPTED


def check_provider(options: Options) -> None:
    """Raises BadOptions for a provider this installation does not know, or another model of the scripted one."""
    names = [provider.name for provider in providers_now()] + [SCRIPTED]
    if options.provider and options.provider not in names:
        raise BadOptions(f"There is no provider {options.provider} here; known are {', '.join(names)}.")
    if options.model and _asked_first(options) is None:
        raise BadOptions("The scripted model has no other models; choose a provider of the chain.")


def answers_here(options: Options) -> bool:
    """The scripted model works alone, without a network."""
    return _asked_first(options) is None


def asked_by(options: Options) -> tuple[Provider, ...]:
    """The providers of the chain that a playing with these options may ask; none: the scripted model works alone."""
    if not options.provider and not options.model:
        return providers_now()
    first = _asked_first(options)
    return (first,) if first else ()


def settings_for(options: Options) -> dict[str, Any]:
    """The settings of the wished chain. With a wish nobody stands behind: else another model's work would be measured
    as its own."""
    if not options.provider and not options.model:
        return {}
    first = _asked_first(options)
    if first is None:
        return {"LLM_CHAIN": (), "LLM_API_KEY": "", "SCRIPTED_MODEL": "last"}
    return {"LLM_CHAIN": (_with_model(first, options.model),), "SCRIPTED_MODEL": "never"}


def _asked_first(options: Options) -> Provider | None:
    """None: the scripted model."""
    fitting = [provider for provider in providers_now() if options.provider in {"", provider.name}]
    return fitting[0] if fitting else None


def _with_model(provider: Provider, model: str) -> Provider:
    """A model that also looks at pictures is replaced in both its parts."""
    if not model:
        return provider
    looks_too = provider.vision_model == provider.model
    return replace(provider, model=model, vision_model=model if looks_too else provider.vision_model)
