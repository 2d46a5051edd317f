"""The small world of a random life: one customer, one order of three lines, one bank, and what has been reached."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db.models import Q
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
from payments.models import OrderLine, Refund, RefundOutcome
from payments.providers.choose import PROVIDERS
from payments.settle_in_flight import settle_due_refunds
from tests.factories import ChargeFactory, LineFactory, OrderFactory, PolicyFactory, StaffFactory
from tests.fake_bank import FakeBank
from tests.faults.clear_review import clear_review

CAPTURED, SHIPPING = 9_000, 500
MOST_RUNS = 60


class Shop:
    """Its charge cannot give everything back. `review_says`: `clear`, or the recommendation of the next reviews;
    `deaths`: so many workers die in the next runs."""

    def __init__(self) -> None:
        PolicyFactory()
        self.bank = FakeBank()
        PROVIDERS["bank"] = self.bank
        order = OrderFactory(shipping_minor=SHIPPING)
        self.customer = order.customer
        self.lines: list[OrderLine] = [
            LineFactory(order=order, quantity=4, unit_price_minor=1999),
            LineFactory(order=order, quantity=2, unit_price_minor=640),
            LineFactory(order=order, unit_price_minor=6400),
        ]
        self.charge = ChargeFactory(order=order, captured_minor=CAPTURED, provider="bank")
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

    def tell(self, key: str, status: str) -> None:
        """The bank's word about a refund it knows. Its last one is kept: what failed stays failed, and what is through
        may only fail."""
        known = self.bank.book[key].status
        if known == "failed" or (known == "succeeded" and status == "pending"):
            status = known
        self.bank.write(key, status, "card expired" if status == "failed" else "")


class refusals_are_answers:
    """What people may not do at this moment is refused, which is an answer too."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        return isinstance(error, Refusal)


def next_due(besides: Sequence[uuid.UUID] = ()) -> Run | None:
    due = Run.objects.filter(status="queued", due_at__lte=timezone.now()).exclude(pk__in=besides)
    return due.order_by("due_at", "id").first()


def due_later() -> list[Run]:
    """Checks and late answers that wait for their day."""
    return list(Run.objects.filter(status="queued", due_at__gt=timezone.now()).order_by("due_at", "id"))


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
    found["end left"] = RefundRequest.objects.filter(reopened=True).count()
    found["run given up"] = Run.objects.filter(status="failed").count()
    found["run taken up again"] = Run.objects.filter(~Q(status="failed"), tries__gt=1).count()
    return +found


def _values(model: Any, field: str, **where: Any) -> list[str]:
    return list(model.objects.filter(**where).values_list(field, flat=True))
