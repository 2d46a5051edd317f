"""The line to Stripe: its SDK with our key and our time-outs, without retries of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

import stripe
from django.conf import settings
from pydantic import ValidationError
from stripe import StripeObject
from stripe.params import RefundCreateParams, RefundListParams

from payments.providers.base import NoAnswer
from payments.providers.stripe_refund import StripeRefund

PAGE = 100
MOST_PAGES = 10
CONNECT_SECONDS = 5.0
IN_USE = "idempotency_key_in_use"
Answer = TypeVar("Answer", bound=StripeObject)


class RefusedByStripe(Exception):
    """Stripe will not do it, and asking again brings the same. `code` as in Stripe's documents, maybe empty."""

    def __init__(self, code: str, message: str, param: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.param = param


def payment_named(reference: str) -> RefundListParams:
    """The parameter that names a payment: by its payment intent (`pi_`) or its charge (`ch_`, `py_`); else empty."""
    if reference.startswith("pi_"):
        return {"payment_intent": reference}
    if reference.startswith(("ch_", "py_")):
        return {"charge": reference}
    return {}


def create_refund(payment: RefundListParams, *, amount: int, metadata: dict[str, str], key: str) -> StripeRefund:
    """`amount` in Stripe's units. Raises NoAnswer or RefusedByStripe."""
    params: RefundCreateParams = {"amount": amount, "metadata": metadata}
    if "payment_intent" in payment:
        params["payment_intent"] = payment["payment_intent"]
    else:
        params["charge"] = payment["charge"]
    return _read(_ask(lambda client: client.v1.refunds.create(params, {"idempotency_key": key})))


def retrieve_refund(refund_id: str) -> StripeRefund:
    """Raises NoAnswer or RefusedByStripe."""
    return _read(_ask(lambda client: client.v1.refunds.retrieve(refund_id)))


def refunds_of(payment: RefundListParams) -> list[StripeRefund]:
    """Every refund of a payment (as `payment_named` gives it), newest first.

    Raises RefusedByStripe, or NoAnswer also when there are more than can be read in reasonable time: whoever asks
    must not take a part for the whole.
    """
    found: list[StripeRefund] = []
    until = time.monotonic() + _call_seconds()
    for _ in range(MOST_PAGES):
        params: RefundListParams = {**payment, "limit": PAGE}
        if found:
            params["starting_after"] = found[-1].id
        page = _ask(lambda client, params=params: client.v1.refunds.list(params))  # type: ignore[misc]
        found += [_read(each) for each in page.data]
        if not page.has_more or not page.data:
            return found
        if time.monotonic() > until:
            break
    raise NoAnswer(f"only the newest {len(found)} refunds of the payment could be read")


def _ask(call: Callable[[stripe.StripeClient], Answer]) -> Answer:
    if not settings.STRIPE_SECRET_KEY:
        raise NoAnswer("STRIPE_SECRET_KEY is not set")
    client = _client(settings.STRIPE_SECRET_KEY, settings.STRIPE_API_BASE, _call_seconds())
    try:
        return call(client)
    except (stripe.InvalidRequestError, stripe.CardError) as error:
        if error.code == IN_USE:
            raise NoAnswer(f"{type(error).__name__}: {error.user_message}") from error
        raise RefusedByStripe(error.code or "", error.user_message or "no reason given", error.param or "") from error
    except stripe.StripeError as error:
        raise NoAnswer(f"{type(error).__name__} {error.http_status or ''}: {error.user_message}") from error


@lru_cache(maxsize=4)
def _client(key: str, base: str, seconds: float) -> stripe.StripeClient:
    """One for all threads: the SDK keeps a connection for each thread by itself."""
    return stripe.StripeClient(
        key,
        base_addresses={"api": base.rstrip("/")} if base else {},
        max_network_retries=0,
        http_client=stripe.RequestsClient(timeout=(min(CONNECT_SECONDS, seconds), seconds)),
    )


def _call_seconds() -> float:
    """For one HTTP call: looking up, asking, and looking once more still fit into CALL_MAX_SECONDS."""
    return settings.CALL_MAX_SECONDS / 3


def _read(answer: StripeObject) -> StripeRefund:
    try:
        return StripeRefund.model_validate(answer.to_dict())
    except ValidationError as error:
        raise NoAnswer(f"Stripe's answer is no refund that can be read ({error.error_count()} faults)") from error
