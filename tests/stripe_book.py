"""What a local Stripe knows: payments, refunds, idempotency keys, and how it is told to stumble."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PAGE = 10
MOST = 100
Json = dict[str, Any]


class ApiError(Exception):
    def __init__(self, status: int, message: str, **more: str) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": {"type": "invalid_request_error", "message": message, **more}}


@dataclass(frozen=True)
class Stumble:
    """What the next POST of a refund meets instead of a smooth answer.

    `first`: whether the refund is made all the same, before the trouble. `seconds`: silence before the answer.
    """

    status: int = 200
    body: Json = field(default_factory=dict)
    seconds: float = 0.0
    first: bool = False
    cut: bool = False

    @property
    def answers(self) -> bool:
        return self.status == 200 and not self.cut


SILENT_BUT_DONE = Stumble(seconds=2.0, first=True)
SILENT = Stumble(seconds=2.0, status=504, body={"error": {"type": "api_error", "message": "gateway time-out"}})
CUT_OFF = Stumble(cut=True)
CUT_OFF_BUT_DONE = Stumble(cut=True, first=True)
BROKEN = Stumble(status=500, body={"error": {"type": "api_error", "message": "An unknown error occurred."}})
TOO_MANY = Stumble(
    status=429, body={"error": {"type": "invalid_request_error", "message": "Slow.", "code": "rate_limit"}}
)
IN_PROGRESS = Stumble(
    status=409,
    body={
        "error": {
            "type": "idempotency_error",
            "code": "idempotency_key_in_use",
            "message": "There is currently another in-progress request using this Idempotent Key.",
        }
    },
)
HTML = Stumble(status=502, body={"html": "<html>Bad gateway</html>"})


@dataclass(frozen=True)
class Asked:
    """One call as it came in: `what` is "POST /v1/refunds", `values` its form or query."""

    what: str
    values: dict[str, str]
    key: str


@dataclass
class Payment:
    """Money taken: `amount` in Stripe's units."""

    charge: str
    intent: str
    amount: int
    currency: str


class StripeBook:
    """`stumbles`: what the next POSTs of a refund meet, in order; `becomes`: the state new refunds are made in;
    `down`: nothing is answered but 503.
    """

    def __init__(self) -> None:
        self.stumbles: deque[Stumble] = deque()
        self.becomes: Json = {"status": "succeeded"}
        self.down = False
        self.asked: list[Asked] = []
        self.payments: list[Payment] = []
        self.refunds: list[Json] = []
        self._answers: dict[str, tuple[str, int, Json]] = {}
        self._in_work: set[str] = set()
        self._lock = threading.RLock()
        self._numbers = itertools.count(1)

    @property
    def posts(self) -> list[Asked]:
        return [asked for asked in self.asked if asked.what == "POST /v1/refunds"]

    def payment(self, reference: str, amount: int, currency: str = "usd") -> Payment:
        """A payment known by its intent (`pi_`) or its charge (`ch_`); the other name is made up."""
        tail = reference.partition("_")[2]
        made = Payment(charge=f"ch_{tail}", intent=f"pi_{tail}", amount=amount, currency=currency)
        self.payments.append(made)
        return made

    def by_hand(self, reference: str, amount: int, **more: Any) -> Json:
        """A refund made in the dashboard: without our key."""
        with self._lock:
            return self._make(self._payment_of(reference), amount, {}, {**self.becomes, **more})

    def turn(self, refund_id: str, status: str, **more: Any) -> Json:
        """The bank's later word about a refund."""
        with self._lock:
            refund = self._refund(refund_id)
            refund.update(status=status, pending_reason=None, **more)
            return dict(refund)

    def forget_keys(self) -> None:
        """A day has passed: the same key would make a second refund."""
        self._answers.clear()

    def charge_object(self, reference: str, *, with_refunds: bool = False) -> Json:
        """A charge as it stands in a message; newer versions of Stripe leave its refunds out."""
        payment = self._payment_of(reference)
        refunds = self._refunds_of(payment)
        back = sum(each["amount"] for each in refunds if each["status"] not in ("failed", "canceled"))
        charge = {
            "id": payment.charge,
            "object": "charge",
            "payment_intent": payment.intent,
            "amount": payment.amount,
            "amount_refunded": back,
            "currency": payment.currency,
            "refunded": back >= payment.amount,
        }
        if with_refunds:
            charge["refunds"] = {"object": "list", "data": refunds, "has_more": False}
        return charge

    # -- what the API does

    def create(self, values: dict[str, str], key: str) -> tuple[int, Json, Stumble]:
        """Stripe's rules for idempotency keys: the first answer again, also an error; other values are refused."""
        fingerprint = json.dumps(values, sort_keys=True)
        with self._lock:
            if key in self._in_work:
                return IN_PROGRESS.status, IN_PROGRESS.body, Stumble()
            if key and key in self._answers:
                first, status, body = self._answers[key]
                if first != fingerprint:
                    error = ApiError(
                        400, f"Keys can only be used with the same parameters: {key}", type="idempotency_error"
                    )
                    return error.status, error.body, Stumble()
                return status, body, Stumble()
            stumble = self.stumbles.popleft() if self.stumbles else Stumble()
            status, body = stumble.status, stumble.body
            self._in_work.add(key)
        try:
            if stumble.first or stumble.answers:
                status, body = self._create(values)
            if key and (stumble.first or stumble.answers or stumble.status == 500):
                self._answers[key] = (fingerprint, status, body)
            if stumble.seconds:
                time.sleep(stumble.seconds)
        finally:
            self._in_work.discard(key)
        return status, body, stumble

    def retrieve(self, refund_id: str) -> Json:
        with self._lock:
            return self._refund(refund_id)

    def list_refunds(self, values: dict[str, str]) -> Json:
        """Newest first, as Stripe does."""
        with self._lock:
            found = [dict(each) for each in reversed(self.refunds)]
            if reference := values.get("charge") or values.get("payment_intent"):
                found = list(reversed(self._refunds_of(self._payment_of(reference))))
        if after := values.get("starting_after"):
            found = found[[each["id"] for each in found].index(after) + 1 :]
        limit = min(int(values.get("limit", PAGE)), MOST)
        return {"object": "list", "url": "/v1/refunds", "has_more": len(found) > limit, "data": found[:limit]}

    def _create(self, values: dict[str, str]) -> tuple[int, Json]:
        try:
            with self._lock:
                payment = self._payment_of(values.get("charge") or values.get("payment_intent") or "")
                self._check_amount(payment, int(values["amount"]))
                metadata = {name[9:-1]: value for name, value in values.items() if name.startswith("metadata[")}
                refund = self._make(payment, int(values["amount"]), metadata, self.becomes)
        except ApiError as error:
            return error.status, error.body
        self.made(refund)
        return 200, refund

    def made(self, refund: Json) -> None:
        """Called for each refund made through the API."""

    def _check_amount(self, payment: Payment, amount: int) -> None:
        made = self._refunds_of(payment)
        left = payment.amount - sum(each["amount"] for each in made if each["status"] not in ("failed", "canceled"))
        if left <= 0:
            sentence = f"Charge {payment.charge} has already been refunded."
            raise ApiError(400, sentence, code="charge_already_refunded")
        if amount > left:
            raise ApiError(
                400, f"Refund amount ({amount}) is greater than unrefunded amount on charge ({left})", param="amount"
            )
        if payment.currency in ("bhd", "jod", "kwd", "omr", "tnd") and amount % 10:
            raise ApiError(
                400, "Invalid amount: the last digit must be 0.", code="parameter_invalid_integer", param="amount"
            )

    def _make(self, payment: Payment, amount: int, metadata: Mapping[str, str], state: Json) -> Json:
        refund = {
            "id": f"re_at_stripe_{next(self._numbers)}",
            "object": "refund",
            "amount": amount,
            "currency": payment.currency,
            "charge": payment.charge,
            "payment_intent": payment.intent,
            "created": int(time.time()),
            "metadata": dict(metadata),
            "failure_reason": None,
            "pending_reason": None,
            **state,
        }
        self.refunds.append(refund)
        return dict(refund)

    def _payment_of(self, reference: str) -> Payment:
        for payment in self.payments:
            if reference in (payment.charge, payment.intent):
                return payment
        kind = "payment_intent" if reference.startswith("pi_") else "charge"
        raise ApiError(404, f"No such {kind}: '{reference}'", code="resource_missing", param=kind)

    def _refunds_of(self, payment: Payment) -> list[Json]:
        return [dict(each) for each in self.refunds if each["charge"] == payment.charge]

    def _refund(self, refund_id: str) -> Json:
        for refund in self.refunds:
            if refund["id"] == refund_id:
                return refund
        raise ApiError(404, f"No such refund: '{refund_id}'", code="resource_missing", param="id")
