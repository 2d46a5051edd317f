"""Why a provider is not asked this time: one sentence for staff, or nothing."""

from __future__ import annotations

import time
from collections.abc import Sequence

from django.utils import timezone

from agent.llm.base import Message, UsedUp
from agent.llm.model_chain import Link, ModelChain
from agent.llm.openai_chat import NO_EYES
from agent.llm.payload import holds_pictures
from agent.llm.provider import Provider
from agent.llm.provider_state import key_rests
from agent.llm.token_ledger import tokens_used
from agent.models import ProviderState
from intake.shop_clock import short_moment

CANNOT_SEE = "It has no model that takes pictures."
# Nobody was asked, or asked in vain, for no other reason than that they take no pictures.
BLIND = (CANNOT_SEE, NO_EYES)
FAILED_EARLIER = "It failed earlier in this review."
KEY_REFUSED = "Its key was refused."
NO_TIME_LEFT = "There was no time left to ask it."
FOR_A_PERSON = "A model refused to work on what this request says, so a person reads it."
MOST_REFUSALS = 2


def why_not(
    link: Link, chain: ModelChain, state: ProviderState | None, messages: Sequence[Message], deadline: float
) -> str:
    """`deadline` is a moment of `time.monotonic()`. Empty: it is asked."""
    if chain.refusals >= MOST_REFUSALS or (chain.refusals and link.stands_in):
        return FOR_A_PERSON
    if link.name in chain.failed:
        return FAILED_EARLIER
    if link.provider is None:
        return ""
    if not link.sees and holds_pictures(messages):
        return CANNOT_SEE
    if time.monotonic() >= deadline:
        return NO_TIME_LEFT
    return _rests(link.provider, state) if state else ""


def check_provider(provider: Provider | None) -> None:
    """Raises UsedUp when the provider has used its tokens of today; a model inside this process has no limit."""
    if provider is None or provider.tokens_per_day is None:
        return
    if tokens_used(provider.name) >= provider.tokens_per_day:
        raise UsedUp(f"It has used its {provider.tokens_per_day:,} tokens of today.")


def _rests(provider: Provider, state: ProviderState) -> str:
    now = timezone.now()
    if key_rests(provider, state, now):
        return KEY_REFUSED
    if state.left_alone_until is not None and now < state.left_alone_until:
        return f"It is left alone until {short_moment(state.left_alone_until, now)} after failures."
    return ""
