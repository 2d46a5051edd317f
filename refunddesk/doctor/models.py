"""The model providers in the order they are asked: what is set up, how each stands, what today has used."""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings

from agent.llm.customers_today import NEAR, customers_today
from agent.llm.providers_now import providers_now
from agent.llm.providers_today import ProviderToday, chain_today
from desk.model_cost import known_cost
from intake.shop_clock import shop_time
from refunddesk.doctor.configured import without_password
from refunddesk.doctor.finding import Finding, State

ABOUT = "model"
ALONE = "no LLM_CHAIN and no LLM_API_KEY is set: the scripted demo model reviews, and pages say so"
NOBODY = "no LLM_CHAIN and no LLM_API_KEY is set and SCRIPTED_MODEL is `never`: a person gets every case"

STATES: dict[str, State] = {
    "ready": "ok",
    "failing": "note",
    "key refused": "missing",
    "left alone": "note",
    "used up": "note",
}


def models() -> Iterator[Finding]:
    """One line for each provider, one for who stands behind them, one for the customers when each has a limit."""
    yield from _providers()
    yield from _limit_of_a_run()
    yield from _customers()


def _providers() -> Iterator[Finding]:
    chain = chain_today()
    if not chain.providers:
        yield Finding("note", ABOUT, NOBODY if chain.scripted is None else ALONE)
        return
    for place, one in enumerate(chain.providers, start=1):
        yield _line(place, one)
    behind = "a person gets the case" if chain.scripted is None else "the scripted model stands in, and pages say so"
    yield Finding("ok", ABOUT, f"when none of them answers, {behind}")


def _limit_of_a_run() -> Iterator[Finding]:
    """Calls whose price nobody knows do not count towards what a run may cost."""
    unpriced = [one.name for one in providers_now() if one.price_in is None or one.price_out is None]
    if settings.LLM_RUN_COST is None or not unpriced:
        return
    words = f"LLM_RUN_COST (${settings.LLM_RUN_COST} a run) does not hold for {', '.join(unpriced)}, whose price is not"
    cure = "set LLM_NAME_PRICE_IN and LLM_NAME_PRICE_OUT in an LLM_CHAIN, or trust in LLM_RUN_TOKENS"
    yield Finding("note", ABOUT, f"{words} known: {cure}")


def _customers() -> Iterator[Finding]:
    """A customer is told by number: names do not belong into a terminal's history."""
    stand = customers_today()
    if stand is None:
        return
    words = f"each has {stand.limit:,} tokens of a model a day; "
    if stand.largest_id is None:
        yield Finding("ok", "customers", f"{words}nobody used any today")
        return
    words += f"today {stand.over} used them up, {stand.near} used {NEAR:.0%} or more; "
    left = max(0, stand.limit - stand.largest_tokens)
    words += f"number {stand.largest_id} used most: {stand.largest_tokens:,} ({left:,} left)"
    yield Finding("note" if stand.over else "ok", "customers", words)


def _line(place: int, one: ProviderToday) -> Finding:
    provider = one.provider
    key = "with a key" if provider.api_key else "without a key"
    eyes = "" if provider.vision_model else ", takes no pictures"
    what = f"{place}. {provider.name}: {provider.model} at {without_password(provider.base_url)}, {key}{eyes}"
    words = f"{what}; {_stands(one)}{_used(one)}"
    return Finding(STATES[one.state], ABOUT, words)


def _stands(one: ProviderToday) -> str:
    if one.state == "key refused" and one.since:
        return f"THE KEY WAS REFUSED at {shop_time(one.since):%H:%M}: {one.last_trouble.rstrip('.')}; "
    if one.state == "left alone" and one.until:
        return f"left alone until {shop_time(one.until):%H:%M:%S} after {one.failures} failed calls in a row; "
    if one.state == "failing":
        calls = "call" if one.failures == 1 else f"{one.failures} calls"
        return f"its last {calls} failed: {one.last_trouble.rstrip('.')}; "
    if one.state == "used up":
        return "its tokens of today are used; "
    return ""


def _used(one: ProviderToday) -> str:
    left = "no limit" if one.tokens_left is None else f"{one.tokens_left:,} left"
    used = one.used
    cost = known_cost(used.cost_micro, used.calls, used.calls_without_cost)
    return f"today {used.tokens:,} tokens ({left}), cost {cost}"
