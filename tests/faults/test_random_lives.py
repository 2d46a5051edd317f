"""Random lives of requests: whatever people, the bank, the clock and dying workers do, in whatever order.

The model is small: the bank's own book, the statuses and messages as they last were, and the table of moves.
"""

from __future__ import annotations

import os
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.db.models import Count, Sum
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from agent.decide import decide
from agent.lease import Lease
from agent.models import Approval, Run
from agent.outcomes import Handover, ReviewResult
from agent.pause import set_automatic_refunds
from agent.runs import claim
from agent.sweep import sweep
from agent.take_back import take_back
from agent.tasks import work
from agent.verify.shop import verify_shop
from intake.models import Receipt, RefundRequest, Step
from intake.record_receipt import record_receipt
from intake.refusals import Refusal
from intake.statuses import ENDS, Status
from intake.submit_reply import submit_reply
from intake.submit_request import submit_request
from payments.models import LIVE_REFUND_STATUSES, Charge, OrderLine, Refund
from payments.providers.choose import PROVIDERS
from payments.settle_in_flight import settle_due_refunds
from payments.settle_refund import record_outcome
from tests.factories import ChargeFactory, LineFactory, OrderFactory, PolicyFactory, StaffFactory
from tests.fake_bank import FakeBank
from tests.faults.clear_review import clear_review

pytestmark = [pytest.mark.django_db, pytest.mark.faults, pytest.mark.timeout(1800)]
FULL = bool(os.environ.get("FAULTS_FULL"))
CAPTURED, SHIPPING = 9_000, 500
DECISIONS = st.sampled_from(["approve", "approve", "approve with return", "ask_customer", "decline"])
ANSWERS = st.sampled_from(["succeeded", "pending", "failed: card expired", "time-out", "time-out, but done"])
REVIEWS = st.sampled_from(["clear", "refund", "refund_after_return", "ask_customer", "decline"])
MOST_RUNS = 60


class Lives(RuleBasedStateMachine):
    """One customer, one order of two lines, and a charge that cannot give everything back."""

    def __init__(self) -> None:
        super().__init__()
        self.outer = transaction.atomic()
        self.outer.__enter__()
        self.bank = FakeBank()
        PROVIDERS["bank"] = self.bank
        self.review_says = "clear"
        self.statuses: dict[int, str] = {}
        self.customer_read: dict[int, list[tuple[Any, ...]]] = {}
        self.days = 0

    @initialize()
    def open_the_shop(self) -> None:
        PolicyFactory()
        order = OrderFactory(shipping_minor=SHIPPING)
        self.customer = order.customer
        self.lines: list[OrderLine] = [
            LineFactory(order=order, quantity=3, unit_price_minor=1999),
            LineFactory(order=order, unit_price_minor=6400),
        ]
        self.charge = ChargeFactory(order=order, captured_minor=CAPTURED, provider="bank")
        self.maya = StaffFactory()
        self.lead = StaffFactory(permissions=["agent.change_switch"])
        self.asks(0, 1, "damaged")
        self.asks(1, 1, "changed_mind")

    # -- the customer ---------------------------------------------------------------------------------------------

    @rule(number=st.integers(0, 1), units=st.integers(1, 3), reason=st.sampled_from(["changed_mind", "damaged"]))
    def asks(self, number: int, units: int, reason: str) -> None:
        line = self.lines[number]
        with _refusals():
            request = submit_request(
                customer=self.customer,
                order_number=line.order.number,
                sku=line.sku,
                reason="changed_mind",
                details="Please take it back.",
                units=units,
                source="api",
            )
            RefundRequest.objects.filter(pk=request.pk).update(reason=reason)

    @precondition(lambda self: self.statuses)
    @rule(pick=st.integers(0, 9))
    def answers(self, pick: int) -> None:
        with _refusals():
            request = self.request(pick, Status.NEEDS_CUSTOMER)
            submit_reply(customer=self.customer, request_uuid=request.uuid, message="The left one.", source="page")

    # -- staff ----------------------------------------------------------------------------------------------------

    @precondition(lambda self: Status.NEEDS_APPROVAL in self.statuses.values())
    @rule(pick=st.integers(0, 9), choice=DECISIONS, part=st.sampled_from([1.0, 1.0, 0.5]), shipping=st.booleans())
    def decides(self, pick: int, choice: str, part: float, shipping: bool) -> None:
        card = Approval.objects.get(request=self.request(pick, Status.NEEDS_APPROVAL), closed_at=None)
        approves, more = choice.startswith("approve"), SHIPPING if shipping else 0
        with _refusals():
            decide(
                approval_id=card.pk,
                by=self.maya,
                choice="approve" if approves else choice,
                note="" if approves else "Which one is it?",
                amount_minor=max(1, int(card.amount_minor * part)) + more if approves else None,
                shipping_minor=more if approves else 0,
                require_return=choice.endswith("return"),
                source="desk",
            )

    @precondition(lambda self: Receipt.objects.count() < 4 and self.statuses)
    @rule(pick=st.integers(0, 9), units=st.integers(1, 3))
    def receives(self, pick: int, units: int) -> None:
        with _refusals():
            request = self.request(pick, Status.AWAITING_RETURN, Status.CLOSED)
            record_receipt(request_uuid=request.uuid, by=self.maya, units=units, source="page")

    @precondition(lambda self: self.statuses)
    @rule(pick=st.integers(0, 9))
    def takes_back(self, pick: int) -> None:
        with _refusals():
            request = self.request(pick, Status.NEEDS_CUSTOMER, Status.AWAITING_RETURN)
            take_back(request_uuid=request.uuid, by=self.maya)

    @rule(paused=st.booleans())
    def brakes(self, paused: bool) -> None:
        set_automatic_refunds(paused=paused, by=self.lead, reason="A test.")

    # -- the agent and its workers --------------------------------------------------------------------------------

    @rule(says=REVIEWS)
    def reviews_will_say(self, says: str) -> None:
        self.review_says = says

    @rule()
    def works_everything_off(self) -> None:
        for _ in range(MOST_RUNS):
            run = _next_due()
            if run is None:
                return
            work(str(run.pk))
        raise AssertionError("the runs never came to an end")

    @rule()
    def works_one_off(self) -> None:
        run = _next_due()
        if run is not None:
            work(str(run.pk))
            work(str(run.pk))

    @rule()
    def a_worker_dies(self) -> None:
        run = _next_due()
        if run is not None and claim(run.pk) is not None:
            Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))

    @rule()
    def the_sweep_comes(self) -> None:
        sweep()

    # -- the bank and the clock -----------------------------------------------------------------------------------

    @rule(answer=ANSWERS)
    def the_bank_will_answer(self, answer: str) -> None:
        self.bank.answers = [answer]
        self.works_everything_off()

    @precondition(lambda self: self.bank.book)
    @rule(pick=st.integers(0, 9), status=st.sampled_from(["pending", "succeeded", "failed"]))
    def the_bank_tells(self, pick: int, status: str) -> None:
        """Its last word is kept: what failed stays failed, and what is through may only fail."""
        key = sorted(self.bank.book)[pick % len(self.bank.book)]
        known = self.bank.book[key].status
        if known == "failed" or (known == "succeeded" and status == "pending"):
            status = known
        self.bank.write(key, status, "card expired" if status == "failed" else "")
        refund = Refund.objects.get(key=key)
        record_outcome(
            refund.pk, status=status, reason="card expired", provider_reference=f"bank-{key}", source="webhook"
        )

    @rule()
    def a_day_passes(self) -> None:
        self.days += 1
        settle_due_refunds(timezone.now() + timedelta(days=self.days))

    @rule(pick=st.integers(0, 9))
    def weeks_pass(self, pick: int) -> None:
        later = list(Run.objects.filter(status="queued", due_at__gt=timezone.now()).order_by("due_at", "id"))
        if later:
            Run.objects.filter(pk=later[pick % len(later)].pk).update(due_at=timezone.now())

    # -- what always holds ----------------------------------------------------------------------------------------

    @invariant()
    def money_adds_up(self) -> None:
        charge = Charge.objects.filter(provider="bank").first()
        if charge is None:
            return
        live = Refund.objects.filter(charge=charge, status__in=LIVE_REFUND_STATUSES)
        assert charge.reserved_minor == (live.aggregate(sum=Sum("amount_minor"))["sum"] or 0) <= CAPTURED
        assert (live.aggregate(sum=Sum("shipping_minor"))["sum"] or 0) <= SHIPPING
        assert max(Counter(live.values_list("request_uuid", flat=True)).values(), default=0) <= 1
        amounts = {order.key: order.amount_minor for order in self.bank.asked}
        given = {key: amounts[key] for key, answer in self.bank.book.items() if answer.status != "failed"}
        assert sum(given.values()) <= CAPTURED
        assert set(given) <= set(live.values_list("key", flat=True))

    @invariant()
    def ends_stay_ends(self) -> None:
        for request in RefundRequest.objects.all():
            before = self.statuses.get(request.pk)
            if before in ENDS and request.status != before:
                assert (request.status, request.reopened) == (Status.NEEDS_APPROVAL, True)
                news = Refund.objects.filter(request_uuid=request.uuid, status="failed")
                assert news.exists() or Receipt.objects.filter(parcel__request=request).exists()
            if request.status == Status.REFUNDED:
                last = Refund.objects.filter(request_uuid=request.uuid).latest("attempt")
                told_soon = Run.objects.filter(request=request, trigger="outcome", status__in=["queued", "running"])
                assert last.status == "succeeded" or told_soon.exists()
            self.statuses[request.pk] = request.status

    @invariant()
    def at_most_one_card_is_open(self) -> None:
        cards = RefundRequest.objects.filter(approvals__closed_at=None, approvals__isnull=False)
        open_cards = dict(cards.annotate(count=Count("approvals")).values_list("pk", "count"))
        before_staff = RefundRequest.objects.filter(status=Status.NEEDS_APPROVAL).values_list("pk", flat=True)
        assert open_cards == dict.fromkeys(before_staff, 1)

    @invariant()
    def what_the_customer_read_stays(self) -> None:
        for request_id in self.statuses:
            steps = Step.objects.filter(request_id=request_id, for_customer=True).order_by("position")
            now = list(steps.values_list("position", "title", "detail", "message_key"))
            before = self.customer_read.get(request_id, [])
            assert now[: len(before)] == before
            self.customer_read[request_id] = now

    @invariant()
    def every_unit_is_asked_for_once(self) -> None:
        for line in OrderLine.objects.annotate(asked=Sum("refund_requests__units")):
            assert (line.asked or 0) <= line.quantity

    def teardown(self) -> None:
        try:
            if self.statuses:
                self.bring_to_rest()
        finally:
            transaction.set_rollback(True)
            self.outer.__exit__(None, None, None)

    def bring_to_rest(self) -> None:
        for _ in range(4):
            Run.objects.filter(status="running").update(lease_until=timezone.now() - timedelta(seconds=1))
            sweep()
            self.works_everything_off()
        self.money_adds_up()
        self.ends_stay_ends()
        self.at_most_one_card_is_open()
        assert not {Status.SUBMITTED, Status.WORKING} & set(self.statuses.values())
        assert not Step.objects.filter(state="running").exists()
        assert verify_shop().misfits == []

    def request(self, pick: int, *wanted: Status) -> RefundRequest:
        """One that stands there, else any."""
        rows = list(RefundRequest.objects.filter(status__in=wanted).order_by("pk"))
        rows = rows or list(RefundRequest.objects.order_by("pk"))
        return rows[pick % len(rows)]

    def review(self, lease: Lease, *, may_refund: bool) -> ReviewResult:
        if self.review_says == "clear":
            return clear_review(lease, may_refund=may_refund)
        question = "Which one is it?" if self.review_says == "ask_customer" else ""
        return Handover(recommendation=self.review_says, reasoning="So it is.", draft_question=question)


class _refusals:
    """What people may not do at this moment is refused, which is an answer too."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        return isinstance(error, Refusal)


def _next_due() -> Run | None:
    due = Run.objects.filter(status="queued", due_at__lte=timezone.now())
    return due.order_by("due_at", "id").first()


def test_whatever_happens_in_whatever_order_the_rules_of_the_house_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROVIDERS, "bank", FakeBank())
    machines: list[Lives] = []

    class Watched(Lives):
        def __init__(self) -> None:
            super().__init__()
            machines[:] = [self]

    monkeypatch.setattr(
        "agent.jobs.review.review", lambda lease, *, may_refund: machines[0].review(lease, may_refund=may_refund)
    )
    run_state_machine_as_test(
        Watched,
        settings=settings(
            max_examples=400 if FULL else 20,
            stateful_step_count=40 if FULL else 25,
            deadline=None,
            database=None,
            derandomize=not FULL,
            suppress_health_check=list(HealthCheck),
        ),
    )
