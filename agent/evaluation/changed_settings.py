"""Settings as a playing wants them: another chain, another prompt, a troubled provider in front."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings

from agent.evaluation.allowance import Allowance
from agent.evaluation.options import Options
from agent.evaluation.scenario import ProviderTrouble
from agent.evaluation.troubled_provider import MODEL, NAME, TroubledProvider
from agent.evaluation.wished_chain import settings_for
from agent.llm.provider import Provider
from agent.llm.providers_now import providers_now

# The troubled provider stands on this machine: whoever has not answered by then does not mean to.
CALL_SECONDS = 0.5
PAUSES_SECONDS = (0.01, 0.02)


@contextmanager
def as_wished(options: Options, trouble: ProviderTrouble | None, allowance: Allowance) -> Iterator[None]:
    """Only in a scratch process, which does one thing at a time."""
    with (
        _changed(**settings_for(options), REVIEW_PROMPT_ADDITION=options.prompt),
        _changed(**allowance.settings()),
    ):
        if trouble is None:
            yield
            return
        with TroubledProvider(trouble.answers) as server, _changed(**_in_front(server.url, alone=trouble.alone)):
            yield


def _in_front(url: str, *, alone: bool) -> dict[str, Any]:
    troubled = Provider(
        name=NAME,
        base_url=url,
        api_key="any-key",
        model=MODEL,
        vision_model=MODEL,
        timeout_seconds=CALL_SECONDS,
    )
    return {
        "LLM_CHAIN": (troubled,) if alone else (troubled, *providers_now()),
        "SCRIPTED_MODEL": "never" if alone else settings.SCRIPTED_MODEL,
        "MODEL_PAUSES_SECONDS": PAUSES_SECONDS,
    }


@contextmanager
def _changed(**changes: Any) -> Iterator[None]:
    before = {name: getattr(settings, name) for name in changes}
    try:
        for name, value in changes.items():
            setattr(settings, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(settings, name, value)
