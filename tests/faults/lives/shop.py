"""The small world of a random life: one customer, one order of three lines, one bank, and what has been reached."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, F, OuterRef, Q, Subquery, Sum
from django.utils import timezone

from agent.lease import Lease
from agent.models import Run
from agent.outcomes import Handover, ReviewResult
from agent.runs import claim
from agent.sweep import sweep
from agent.tasks import work
from intake.models import RefundRequest, Step
from intake.refusals import Refusal
from intake.statuses import Status
from payments.models import NEEDS_THE_CUSTOMER, OrderLine, Refund, RefundOutcome
from payments.providers.base import ProviderAnswer, RefundOrder
from payments.providers.choose import PROVIDERS
from payments.providers.stripe_refund import WAITS, StripeRefund
from payments.settle_in_flight import settle_due_refunds
from payments.settle_refund import record_outcome
from payments.take_in_refund import take_in_refund
from tests.factories import ChargeFactory, LineFactory, OrderFactory, PolicyFactory, StaffFactory
from tests.fake_bank import FakeBank
from tests.faults.clear_review import clear_review

CAPTURED, SHIPPING = 9_000, 500
MOST_RUNS = 60
PROVIDER = "stripe"
NEEDS_YOU, AT_WORK = f"pending: {NEEDS_THE_CUSTOMER}", f"pending: {WAITS['processing']}"


@dataclass
class Bank(FakeBank):
    """Gives back no more than it took. `by_hand`: when each refund was made that nobody's program asked it for."""

    by_hand: dict[str, datetime] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    @property
    def given_back(self) -> dict[str, int]:
        """What it has sent or is sending: key -> amount."""
        amounts = {order.key: order.amount_minor for order in self.asked}
        return {key: amounts[key] for key, answer in self.book.items() if answer.status != "failed"}

    @property
    def left_minor(self) -> int:
        return CAPTURED - sum(self.given_back.values())

    def refund(self, order: RefundOrder) -> ProviderAnswer:
        if order.key not in self.book and order.amount_minor > self.left_minor:
            self.refused.append(order.key)
            self.write(order.key, "failed", "the payment has been given back already")
        return super().refund(order)

    def refund_by_hand(self, amount_minor: int, charge_reference: str, word: str) -> str:
        """The key under which it stands in our book once we have heard of it."""
        key = f"external_re_hand{len(self.by_hand)}"
        self.by_hand[key] = timezone.now()
        self.asked.append(RefundOrder(key, charge_reference, min(amount_minor, self.left_minor), "USD"))
        status, _, reason = word.partition(": ")
        self.write(key, status, reason)
        return key


class Shop:
    """Its charge cannot give everything back. `review_says`: `clear`, or the recommendation of the next reviews;
    `deaths`: so many workers die in the next runs."""

    def __init__(self) -> None:
        PolicyFactory()
        self.bank = Bank()
        PROVIDERS[PROVIDER] = self.bank
        order = OrderFactory(shipping_minor=SHIPPING)
        self.customer = order.customer
        self.lines: list[OrderLine] = [
            LineFactory(order=order, quantity=4, unit_price_minor=1999, paid_minor=7991),
            LineFactory(order=order, quantity=2, unit_price_minor=640, paid_minor=1279),
            LineFactory(order=order, unit_price_minor=6400),
        ]
        self.charge = ChargeFactory(order=order, captured_minor=CAPTURED, provider=PROVIDER)
        self.maya = StaffFactory()
        self.lead = StaffFactory(permissions=["agent.change_switch"])
        self.review_says = "clear"
        self.deaths = self.days = 0

    def review(self, lease: Lease, *, may_refund: bool) -> ReviewResult:
        """In place of `agent.jobs.review.review`."""
        if self.review_says == "clear":
            return clear_review(lease, may_refund=may_refund)
        question = "Which one is it?" if self.review_says == "ask_customer" else ""
        return Handover(recommendation=self.review_says, reasoning="So it is.", draft_question=question)

    def request(self, pick: int, *wanted: Status) -> RefundRequest:
        """One that stands there, else any."""
        rows = list(RefundRequest.objects.filter(status__in=wanted).order_by("pk"))
        rows = rows or list(RefundRequest.objects.order_by("pk"))
        return rows[pick % len(rows)]

    def work_everything_off(self) -> None:
        """All but what stands behind a dead worker's run that nobody has noticed yet."""
        not_to_be_had: list[uuid.UUID] = []
        for _ in range(MOST_RUNS):
            run = next_due(besides=not_to_be_had)
            if run is None:
                return
            self._work_or_die(run)
            if Run.objects.filter(pk=run.pk, status="queued", tries=run.tries).exists():
                not_to_be_had.append(run.pk)
        raise AssertionError("the runs never came to an end")

    def _work_or_die(self, run: Run) -> None:
        if self.deaths == 0:
            work(str(run.pk))
        elif claim(run.pk) is not None:
            self.deaths -= 1
            lease_runs_out(pk=run.pk)
            sweep()

    def ask_about_what_is_in_flight(self) -> None:
        """A day passes for the beat."""
        self.days += 1
        settle_due_refunds(timezone.now() + timedelta(days=self.days))

    def tell(self, key: str, word: str) -> None:
        """The bank's word about a refund it knows, as in `FakeBank.answers`. Its last one is kept: what failed stays
        failed, and what is through may only fail."""
        status, _, reason = word.partition(": ")
        known = self.bank.book[key]
        if known.status == "failed" or (known.status == "succeeded" and status == "pending"):
            return
        self.bank.write(key, status, "card expired" if status == "failed" else reason)

    def hear(self, key: str) -> None:
        """The bank's message about a refund as it stands in its book, be it one of ours or one made by hand."""
        said = self.bank.book[key]
        if key in self.bank.by_hand:
            take_in_refund(self._as_stripe_says(key, said), "webhook")
            return
        record_outcome(
            Refund.objects.get(key=key).pk,
            status=said.status,
            reason=said.reason,
            provider_reference=said.provider_reference,
            source="webhook",
        )

    def _as_stripe_says(self, key: str, said: ProviderAnswer) -> StripeRefund:
        codes = {reason: code for code, reason in WAITS.items()}
        return StripeRefund(
            id=key.removeprefix("external_"),
            amount=next(order.amount_minor for order in self.bank.asked if order.key == key),
            currency="usd",
            created=self.bank.by_hand[key],
            payment_intent=self.charge.reference,
            status="requires_action" if said.reason == NEEDS_THE_CUSTOMER else said.status,
            pending_reason=codes.get(said.reason, ""),
        )

    @property
    def not_heard_of(self) -> list[str]:
        """Keys of the refunds made by hand that are not in our book yet."""
        known = set(Refund.objects.filter(request_uuid=None).values_list("key", flat=True))
        return [key for key in self.bank.by_hand if key not in known]


class refusals_are_answers:
    """What people may not do at this moment is refused, which is an answer too."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        return isinstance(error, Refusal)


def next_due(besides: Sequence[uuid.UUID] = ()) -> Run | None:
    due = Run.objects.filter(status="queued", due_at__lte=timezone.now()).exclude(pk__in=besides)
    return due.order_by("due_at", "created_at", "id").first()


def due_later() -> list[Run]:
    """Checks and late answers that wait for their day."""
    return list(Run.objects.filter(status="queued", due_at__gt=timezone.now()).order_by("due_at", "created_at", "id"))


def lease_runs_out(**runs: Any) -> None:
    Run.objects.filter(status="running", **runs).update(lease_until=timezone.now() - timedelta(seconds=1))


def reached() -> Counter[str]:
    """What the lives of this shop came to, from its rows."""
    found: Counter[str] = Counter()
    found.update(f"stands in {status}" for status in _values(RefundRequest, "status"))
    found.update(f"told {key}" for key in _values(Step, "message_key", for_customer=True) if key)
    found.update(f"told of {title}" for title in _values(Step, "title", for_customer=True, message_key=""))
    found.update(f"bank said {word} by {road}" for word, road in RefundOutcome.objects.values_list("status", "source"))
    found.update(f"refund {status}" for status in _values(Refund, "status"))
    found["refund automatic"] = Refund.objects.filter(automatic=True).count()
    found["refund decided"] = Refund.objects.filter(automatic=False).count()
    found["refund with shipping"] = Refund.objects.filter(shipping_minor__gt=0).count()
    found["refund tried again"] = Refund.objects.filter(attempt__gt=1).count()
    found["refund made by hand"] = Refund.objects.filter(request_uuid=None).count()
    asked_for = RefundRequest.objects.filter(uuid=OuterRef("request_uuid")).values("units")
    found["refund of fewer units"] = Refund.objects.filter(units__lt=Subquery(asked_for)).count()
    lines = OrderLine.objects.annotate(asked=Sum("refund_requests__units"), times=Count("refund_requests"))
    found["line asked for to the last unit, in parts"] = lines.filter(asked=F("quantity"), times__gt=1).count()
    found["end left"] = RefundRequest.objects.filter(reopened=True).count()
    found["run given up"] = Run.objects.filter(status="failed").count()
    found["run taken up again"] = Run.objects.filter(~Q(status="failed"), tries__gt=1).count()
    return +found


def _values(model: Any, field: str, **where: Any) -> list[str]:
    return list(model.objects.filter(**where).values_list(field, flat=True))
