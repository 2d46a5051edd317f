"""How providers behave, shared by all workers: who is left alone until when, and whose key was refused."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from agent.llm.provider import Provider
from agent.models import ProviderState

# After this many failed calls in a row a provider is left alone: at first so long, then twice as long each time.
FAILURES_BEFORE_REST = 3
FIRST_REST = timedelta(seconds=30)
LONGEST_REST = timedelta(minutes=30)
# What a provider asks for itself is kept up to here.
LONGEST_ASKED_REST = timedelta(days=1)
MOST_DOUBLINGS = 10
# The same key may work again, once its account has credit: it is tried again after this long.
KEY_REST = timedelta(hours=1)


def states_of(providers: Iterable[Provider]) -> dict[str, ProviderState]:
    """By name; a provider nothing is known about is not in it. One query, none without providers."""
    names = [provider.name for provider in providers]
    return {state.name: state for state in ProviderState.objects.filter(name__in=names)} if names else {}


def has_refused_key(provider: Provider, state: ProviderState) -> bool:
    """The key that is set now is the one that was refused, and no call has worked since."""
    return state.key_refused_at is not None and state.key_digest == provider.key_digest


def key_rests(provider: Provider, state: ProviderState, now: datetime) -> bool:
    return (
        has_refused_key(provider, state) and state.key_refused_at is not None and now < state.key_refused_at + KEY_REST
    )


def note_success(name: str, state: ProviderState | None) -> None:
    """Writes only when there was something to forget. `state`: as it was when the call began; what others have noted
    since is newer than this success."""
    if state is None or not (state.failures or state.left_alone_until or state.key_refused_at):
        return
    ProviderState.objects.filter(pk=state.pk, changed_at=state.changed_at).update(
        failures=0, left_alone_until=None, key_refused_at=None, key_digest="", changed_at=timezone.now()
    )


def note_refused_key(provider: Provider, sentence: str, known: ProviderState | None) -> bool:
    """True: it is news. `known`: the state when the call began; what others have noted of the key since then stands.

    The same key, refused again after its hour, is left alone for another and is no news.
    """
    now = timezone.now()
    refused_before = known is not None and has_refused_key(provider, known)
    as_known = Q(key_refused_at=known.key_refused_at if known else None, key_digest=known.key_digest if known else "")
    ProviderState.objects.bulk_create([ProviderState(name=provider.name)], ignore_conflicts=True)
    noted = ProviderState.objects.filter(as_known, name=provider.name).update(
        key_refused_at=now, key_digest=provider.key_digest, last_trouble=sentence[:200], changed_at=now
    )
    return bool(noted) and not refused_before


def note_failure(provider: Provider, sentence: str, *, asked_at: datetime, wait: float | None) -> None:
    """One failed call more. `wait`: seconds the provider itself asks to be left alone, when it says so.

    A call that began before the last rest was decided says nothing new: fifty at once make one rest, not the longest.
    """
    now = timezone.now()
    with transaction.atomic():
        ProviderState.objects.bulk_create([ProviderState(name=provider.name)], ignore_conflicts=True)
        state = ProviderState.objects.filter(name=provider.name)
        news = state.filter(Q(left_alone_until=None) | Q(left_alone_until__lte=asked_at))
        if not news.update(failures=F("failures") + 1, last_trouble=sentence[:200], changed_at=now):
            return
        rest = _rest(state.values_list("failures", flat=True).get(), wait)
        if rest:
            state.update(left_alone_until=now + rest)


def _rest(failures: int, wait: float | None) -> timedelta:
    """What the provider asks for, and the growing rest of one that keeps failing; the longer of both."""
    asked = timedelta(seconds=min(wait or 0.0, LONGEST_ASKED_REST.total_seconds()))
    if failures < FAILURES_BEFORE_REST:
        return asked
    doublings = min(failures - FAILURES_BEFORE_REST, MOST_DOUBLINGS)
    return max(asked, min(FIRST_REST * 2**doublings, LONGEST_REST))
