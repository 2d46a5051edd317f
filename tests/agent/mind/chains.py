"""Chains of providers on this machine, for tests that let one of them fail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from typing import Any

from agent.llm.provider import Provider
from tests.openai_server import MODEL, Canned, OpenAIServer

BUSY = Canned({"error": {"message": "busy"}}, status=503)
NO_KEY = Canned({"error": {"message": "Incorrect API key"}}, status=401)
SCRIPTED = Canned(None)


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
