"""What the environment may say about model providers; what it may not say gets a sentence that names the variable."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured
from pytest_django.fixtures import Settings

from agent.llm.base import Usage
from agent.llm.provider import Provider
from agent.llm.providers_now import providers_now
from refunddesk.model_settings import read_chain, read_dollars, read_limit, read_scripted

GROQ = {"LLM_CHAIN": "groq", "LLM_GROQ_API_KEY": "gsk-secret", "LLM_GROQ_MODEL": "llama"}


def chain(**env: str) -> tuple[Provider, ...]:
    return read_chain(lambda name: env.get(name, ""))


def refusal(**env: str) -> str:
    with pytest.raises(ImproperlyConfigured) as refused:
        chain(**{**GROQ, **env})
    return str(refused.value)


def test_a_chain_is_read_in_its_order_with_known_addresses() -> None:
    found = chain(
        LLM_CHAIN="groq, openrouter,ollama,my-host",
        LLM_GROQ_API_KEY="k1", LLM_GROQ_MODEL="m1", LLM_GROQ_VISION_MODEL="none", LLM_GROQ_TIMEOUT_SECONDS="12.5",
        LLM_OPENROUTER_API_KEY="k2", LLM_OPENROUTER_MODEL="m2", LLM_OPENROUTER_VISION_MODEL="eyes",
        LLM_OPENROUTER_PRICE_IN="0.25", LLM_OPENROUTER_PRICE_OUT="2", LLM_OPENROUTER_TOKENS_PER_DAY="500000",
        LLM_OLLAMA_MODEL="m3",
        LLM_MY_HOST_BASE_URL="http://10.0.0.7:8000/v1", LLM_MY_HOST_MODEL="m4",
    )  # fmt: skip
    assert found == (
        Provider("groq", "https://api.groq.com/openai/v1", "k1", "m1", "", 12.5),
        Provider(
            "openrouter", "https://openrouter.ai/api/v1", "k2", "m2", "eyes", None, Decimal("0.25"), Decimal(2), 500_000
        ),
        Provider("ollama", "http://127.0.0.1:11434/v1", "", "m3", "m3"),
        Provider("my-host", "http://10.0.0.7:8000/v1", "", "m4", "m4"),
    )


def test_without_a_chain_there_is_none() -> None:
    assert chain(LLM_GROQ_MODEL="llama") == ()


@pytest.mark.parametrize(
    ("env", "sentence"),
    [
        ({"LLM_GROQ_MODEL": ""}, "LLM_GROQ_MODEL must name the model that groq is asked for."),
        (
            {"LLM_GROQ_API_KEY": ""},
            "LLM_GROQ_API_KEY must be set: https://api.groq.com/openai/v1 is not on this machine or network.",
        ),
        (
            {"LLM_CHAIN": "acme"},
            "LLM_ACME_MODEL must name the model that acme is asked for.",
        ),
        (
            {"LLM_CHAIN": "acme", "LLM_ACME_MODEL": "m"},
            "LLM_ACME_BASE_URL must be set: only the addresses of openrouter, groq, cerebras, ollama, vllm are known.",
        ),
        (
            {"LLM_GROQ_BASE_URL": "groq.com/v1"},
            "LLM_GROQ_BASE_URL must be an http or https address, not 'groq.com/v1'.",
        ),
        ({"LLM_CHAIN": "groq,groq"}, "LLM_CHAIN names a provider twice (- and _ count as the same)."),
        ({"LLM_CHAIN": "groq;x"}, "LLM_CHAIN: 'groq;x' is no name; use letters, digits, - and _."),
        ({"LLM_CHAIN": "vision"}, "LLM_CHAIN: 'vision' has another meaning here; choose another name."),
        (
            {"LLM_GROQ_PRICE_IN": "cheap"},
            "LLM_GROQ_PRICE_IN must be an amount of US dollars such as 0.25 or `none`, not 'cheap'.",
        ),
        (
            {"LLM_GROQ_PRICE_OUT": "-1"},
            "LLM_GROQ_PRICE_OUT must be an amount of US dollars such as 0.25 or `none`, not '-1'.",
        ),
        (
            {"LLM_GROQ_TOKENS_PER_DAY": "0"},
            "LLM_GROQ_TOKENS_PER_DAY must be a whole number above zero or `none`, not '0'.",
        ),
        (
            {"LLM_GROQ_TIMEOUT_SECONDS": "soon"},
            "LLM_GROQ_TIMEOUT_SECONDS must be a number of seconds from 0.1 to 3600, not 'soon'.",
        ),
        (
            {"LLM_GROQ_TIMEOUT_SECONDS": "1e-400"},
            "LLM_GROQ_TIMEOUT_SECONDS must be a number of seconds from 0.1 to 3600, not '1e-400'.",
        ),
        (
            {"LLM_GROQ_PRICE_IN": "1e500"},
            "LLM_GROQ_PRICE_IN must be an amount of US dollars such as 0.25 or `none`, not '1e500'.",
        ),
        (
            {"LLM_GROQ_API_KEY": "schlüssel"},
            "LLM_GROQ_API_KEY holds a character that no key has; copy it again.",
        ),
        (
            {"LLM_GROQ_BASE_URL": "http://localhost:99999/v1"},
            "LLM_GROQ_BASE_URL must be an http or https address, not 'http://localhost:99999/v1'.",
        ),
        (
            {"LLM_CHAIN": "a-b,a_b", "LLM_A_B_MODEL": "m", "LLM_A_B_BASE_URL": "http://localhost/v1"},
            "LLM_CHAIN names a provider twice (- and _ count as the same).",
        ),
        (
            {"LLM_CHAIN": "a,a_vision"},
            "LLM_CHAIN: LLM_A_VISION_MODEL would belong to two providers; rename one of them.",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_variables_name(env: dict[str, str], sentence: str) -> None:
    assert refusal(**env) == sentence


def test_limits_have_defaults_and_can_be_none() -> None:
    def limit(text: str) -> int | None:
        return read_limit(lambda name: text, "LLM_RUN_TOKENS")

    assert (limit(""), limit("none"), limit("9000")) == (300_000, None, 9000)
    assert read_dollars(lambda name: "0.10", "LLM_RUN_COST") == Decimal("0.10")
    assert read_dollars(lambda name: "", "LLM_RUN_COST") is None


def test_the_scripted_model_stands_last_or_never() -> None:
    def scripted(text: str, *, default: str = "last") -> str:
        return read_scripted(lambda name: text, default=default)

    assert (scripted(""), scripted("", default="never")) == ("last", "never")
    assert (scripted("never"), scripted("last", default="never")) == ("never", "last")
    with pytest.raises(ImproperlyConfigured, match="SCRIPTED_MODEL must be `last` or `never`, not 'first'"):
        scripted("first")


def test_a_key_is_never_shown_with_its_provider() -> None:
    assert "gsk-secret" not in repr(chain(**GROQ))


def test_one_key_is_a_chain_of_one_and_a_chain_counts_more(settings: Settings) -> None:
    settings.LLM_API_KEY, settings.LLM_MODEL, settings.LLM_VISION_MODEL = "k", "m", "none"
    [short] = providers_now()
    assert (short.name, short.model, short.vision_model) == ("openrouter", "m", "")
    settings.LLM_CHAIN = chain(**GROQ)
    assert [provider.name for provider in providers_now()] == ["groq"]
    assert "refunddesk.W008" in [message.id for message in run_checks()]


def test_a_time_out_above_that_of_every_call_is_an_error(settings: Settings) -> None:
    settings.LLM_CHAIN = chain(**GROQ, LLM_GROQ_TIMEOUT_SECONDS="46")
    [found] = [message for message in run_checks() if message.id == "refunddesk.E007"]
    assert found.msg == "LLM_GROQ_TIMEOUT_SECONDS (46) must not be above CALL_MAX_SECONDS (45)."


@pytest.mark.parametrize(
    ("prices", "usage", "cost"),
    [
        (("0.25", "2"), Usage(1000, 100), 450),
        (("0.05", "0.08"), Usage(1, 0), 1),
        (("0", "0"), Usage(1000, 100), 0),
        (("0.25", None), Usage(1000, 100), None),
        ((None, None), Usage(1000, 100), None),
        (("0.25", "2"), Usage(None, 100), None),
        ((None, None), Usage(0, 0), 0),
    ],
)
def test_a_cost_is_in_millionths_rounded_up_and_unknown_is_not_zero(
    prices: tuple[str | None, str | None], usage: Usage, cost: int | None
) -> None:
    dollars = [None if price is None else Decimal(price) for price in prices]
    provider = Provider("p", "http://p", "k", "m", price_in=dollars[0], price_out=dollars[1])
    assert provider.cost_micro(usage) == cost
