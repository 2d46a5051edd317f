"""Chains of providers on this machine, for tests that let one of them fail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from typing import Any

from agent.llm.provider import Provider
from agent.loop import review
from agent.outcomes import ReviewResult
from intake.models import RefundRequest, Step
from tests.agent.mind.cases import begin
from tests.openai_server import MODEL, Canned, OpenAIServer

BUSY = Canned({"error": {"message": "busy"}}, status=503)
NO_KEY = Canned({"error": {"message": "Incorrect API key"}}, status=401)
SCRIPTED = Canned(None)
USED = {"prompt_tokens": 70_000, "completion_tokens": 0}
CUT = Canned({"choices": [{"message": {"content": ""}, "finish_reason": "length"}], "usage": USED})
REFUSED = Canned({"choices": [{"message": {"refusal": "No."}, "finish_reason": "stop"}], "usage": USED})
BUSY_SENTENCE = "The model's provider is busy or out of order (status 503)."
KEY_SENTENCE = "The model's provider does not accept the key."
# The scripted model behind a server answers each call with 800 tokens in and 40 out: 880 millionths of a dollar.
COST = 880


@contextmanager
def two_servers() -> Iterator[tuple[OpenAIServer, OpenAIServer]]:
    with ExitStack() as stack:
        yield stack.enter_context(OpenAIServer()), stack.enter_context(OpenAIServer())


def provider(name: str, server: OpenAIServer, **changes: Any) -> Provider:
    """One dollar for a million tokens in, two for as many out."""
    return Provider(
        **{
            "name": name,
            "base_url": server.url,
            "api_key": f"key-of-{name}",
            "model": MODEL,
            "vision_model": MODEL,
            "price_in": Decimal(1),
            "price_out": Decimal(2),
            **changes,
        }
    )


def play(request: RefundRequest) -> ReviewResult:
    return review(begin(request), may_refund=True)


def answered(request: RefundRequest) -> list[str]:
    return list(request.steps.filter(kind=Step.Kind.TOOL).values_list("provider", flat=True))


def skipped(request: RefundRequest) -> list[list[tuple[str, str]]]:
    steps = request.steps.filter(kind=Step.Kind.TOOL)
    return [[(one["provider"], one["why"]) for one in step.skipped] for step in steps]
