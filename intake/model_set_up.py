"""Whether a language model is set up here, for pages that must say so. Which one is the agent's business."""

from __future__ import annotations

from django.conf import settings


def model_is_set_up() -> bool:
    """A chain of providers, or its short form of one key."""
    return bool(settings.LLM_CHAIN or settings.LLM_API_KEY)


def scripted_may_stand_in() -> bool:
    return settings.SCRIPTED_MODEL != "never"


def scripted_works_alone() -> bool:
    """No language model is set up and the scripted one does the agent's work."""
    return not model_is_set_up() and scripted_may_stand_in()
