"""Reads the model providers and their limits from the environment, and fails loudly with the variable's name."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import TypeVar
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from agent.llm.provider import KNOWN_ADDRESSES, Provider

# Every variable with what holds when it is not set; those of a provider stand behind `LLM_<NAME>_`.
DEFAULTS = {
    "LLM_CHAIN": "",
    "SCRIPTED_MODEL": "",  # `last` in the demo, else `never`
    "LLM_CUSTOMER_TOKENS_PER_DAY": "2000000",
    "LLM_RUN_TOKENS": "300000",
    "LLM_RUN_COST": "none",
}
PROVIDER_DEFAULTS = {
    "API_KEY": "",
    "BASE_URL": "",
    "MODEL": "",
    "VISION_MODEL": "",
    "TIMEOUT_SECONDS": "",
    "PRICE_IN": "",
    "PRICE_OUT": "",
    "TOKENS_PER_DAY": "",
}
NONE = "none"
NAME = re.compile(r"[a-z][a-z0-9_-]{0,29}")
# `LLM_VISION_MODEL` and the like are settings of their own, and the scripted model is no provider.
TAKEN_NAMES = {"scripted", "vision", "customer", "run"}

MOST_DOLLARS = 1_000_000
LEAST_SECONDS, MOST_SECONDS = 0.1, 3_600

Read = Callable[[str], str]
T = TypeVar("T")


def read_chain(read: Read) -> tuple[Provider, ...]:
    """`read` gives a variable's text, empty when it is not set. Empty: LLM_CHAIN is not set. Raises
    ImproperlyConfigured."""
    names = [name.strip().lower() for name in read("LLM_CHAIN").split(",") if name.strip()]
    for name in names:
        if not NAME.fullmatch(name):
            raise ImproperlyConfigured(f"LLM_CHAIN: {name!r} is no name; use letters, digits, - and _.")
        if name in TAKEN_NAMES:
            raise ImproperlyConfigured(f"LLM_CHAIN: {name!r} has another meaning here; choose another name.")
    if len({prefix_of(name) for name in names}) < len(names):
        raise ImproperlyConfigured("LLM_CHAIN names a provider twice (- and _ count as the same).")
    _refuse_overlaps(names)
    return tuple(_provider(name, read) for name in names)


def read_scripted(read: Read, *, default: str) -> str:
    value = read("SCRIPTED_MODEL") or default
    if value not in {"last", "never"}:
        raise ImproperlyConfigured(f"SCRIPTED_MODEL must be `last` or `never`, not {value!r}.")
    return value


def read_limit(read: Read, name: str) -> int | None:
    """A number of tokens; None for `none`."""
    return _optional(name, read(name) or DEFAULTS[name], _count)


def read_dollars(read: Read, name: str) -> Decimal | None:
    return _optional(name, read(name) or DEFAULTS[name], _dollars)


def _refuse_overlaps(names: list[str]) -> None:
    """`a` and `a-vision`: LLM_A_VISION_MODEL would be the eyes of the one and the model of the other."""
    variables = [prefix_of(name) + rest for name in names for rest in PROVIDER_DEFAULTS]
    for variable in variables:
        if variables.count(variable) > 1:
            raise ImproperlyConfigured(f"LLM_CHAIN: {variable} would belong to two providers; rename one of them.")


def prefix_of(name: str) -> str:
    """`LLM_MY_HOST_` for `my-host`."""
    return f"LLM_{name.upper().replace('-', '_')}_"


def _provider(name: str, read: Read) -> Provider:
    prefix = prefix_of(name)
    model = read(prefix + "MODEL")
    if not model:
        raise ImproperlyConfigured(f"{prefix}MODEL must name the model that {name} is asked for.")
    base_url = _address(name, read(prefix + "BASE_URL"))
    key = read(prefix + "API_KEY")
    if not key.isascii() or not key.isprintable():
        raise ImproperlyConfigured(f"{prefix}API_KEY holds a character that no key has; copy it again.")
    if not key and not _is_near(base_url):
        raise ImproperlyConfigured(f"{prefix}API_KEY must be set: {base_url} is not on this machine or network.")
    eyes = read(prefix + "VISION_MODEL") or model
    return Provider(
        name=name,
        base_url=base_url,
        api_key=key,
        model=model,
        vision_model="" if eyes == NONE else eyes,
        timeout_seconds=_optional(prefix + "TIMEOUT_SECONDS", read(prefix + "TIMEOUT_SECONDS"), _seconds),
        price_in=_optional(prefix + "PRICE_IN", read(prefix + "PRICE_IN"), _dollars),
        price_out=_optional(prefix + "PRICE_OUT", read(prefix + "PRICE_OUT"), _dollars),
        tokens_per_day=_optional(prefix + "TOKENS_PER_DAY", read(prefix + "TOKENS_PER_DAY"), _count),
    )


def _address(name: str, given: str) -> str:
    address = given or KNOWN_ADDRESSES.get(name, "")
    variable = f"{prefix_of(name)}BASE_URL"
    if not address:
        known = ", ".join(KNOWN_ADDRESSES)
        raise ImproperlyConfigured(f"{variable} must be set: only the addresses of {known} are known.")
    try:
        parts = urlsplit(address)
        host = parts.hostname if parts.scheme in {"http", "https"} and parts.port != 0 else None
    except ValueError:  # also a port that is none
        host = None
    if not host:
        raise ImproperlyConfigured(f"{variable} must be an http or https address, not {address!r}.")
    return address


def _is_near(address: str) -> bool:
    """On this machine or in a private network, where a server may go without a key."""
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".localhost"))


def _optional(name: str, text: str, convert: Callable[[str, str], T]) -> T | None:
    return None if text in {"", NONE} else convert(name, text)


def _count(name: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,15}", text) or int(text) < 1:
        raise ImproperlyConfigured(f"{name} must be a whole number above zero or `none`, not {text!r}.")
    return int(text)


def _dollars(name: str, text: str) -> Decimal:
    amount = _decimal(text)
    if amount is None or not 0 <= amount <= MOST_DOLLARS:
        raise ImproperlyConfigured(f"{name} must be an amount of US dollars such as 0.25 or `none`, not {text!r}.")
    return amount


def _seconds(name: str, text: str) -> float:
    seconds = _decimal(text)
    if seconds is None or not LEAST_SECONDS <= seconds <= MOST_SECONDS:
        raise ImproperlyConfigured(
            f"{name} must be a number of seconds from {LEAST_SECONDS} to {MOST_SECONDS}, not {text!r}."
        )
    return float(seconds)


def _decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
