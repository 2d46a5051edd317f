"""Random lives of requests: what people, the bank, the clock and dying workers do, in whatever order.

A rule is on offer when it means something, so that lives get far; untimely acts have a rule of their own.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from agent.decide import decide
from agent.models import Approval, Run
from agent.pause import set_automatic_refunds
from agent.runs import claim
from agent.sweep import sweep
from agent.take_back import take_back
from agent.tasks import work
from intake.models import RefundRequest
from intake.record_receipt import record_receipt
from intake.statuses import ENDS, OPEN, Status
from intake.submit_reply import submit_reply
from intake.submit_request import submit_request
from payments.models import LIVE_REFUND_STATUSES, Refund
from tests.faults.lives.always import Always, running_total
from tests.faults.lives.shop import (
    AT_WORK,
    CAPTURED,
    NEEDS_YOU,
    SHIPPING,
    Shop,
    due_later,
    lease_runs_out,
    next_due,
    reached,
    refusals_are_answers,
)

PICK = st.integers(0, 9)
DECISIONS = st.sampled_from(["approve", "approve", *["approve with return"] * 2, "ask_customer", "decline"])
ANSWERS = st.sampled_from(
    [*["succeeded"] * 3, "pending", NEEDS_YOU, "failed: card expired", "time-out", "time-out, but done"]
)
REVIEWS = st.sampled_from(["clear", "clear", "refund", "refund_after_return", "ask_customer", "decline"])
PARTS = st.sampled_from([1.0, 1.0, 0.5])
ALL = None
UNITS_ASKED, UNITS_APPROVED = st.sampled_from([1, 1, 2, 3, ALL]), st.sampled_from([ALL, ALL, 1, 1, 2])
WORDS = st.sampled_from([*["succeeded"] * 3, *["failed"] * 2, "pending", NEEDS_YOU, AT_WORK])
BY_HAND = st.sampled_from(["succeeded", "succeeded", "pending", NEEDS_YOU])
MOST_BY_HAND = 2
WAITS_FOR_CUSTOMER = (Status.NEEDS_CUSTOMER, Status.AWAITING_RETURN)
AT_ONCE = st.sampled_from([True, True, True, False])
MOST_TRIES = 3


def some(*statuses: Status) -> Any:
    """Only while a request stands there."""
    return precondition(lambda self: bool(set(statuses) & set(self.statuses.values())))


class Lives(Always, RuleBasedStateMachine):
    """`seen` counts over all lives of a class what they came to."""

    seen: Counter[str] = Counter()
    now_living: Lives

    def __init__(self) -> None:
        super().__init__()
        type(self).now_living = self
        self.outer = transaction.atomic()
        self.outer.__enter__()
        self.watching.__enter__()

    @initialize(says=REVIEWS, answers=st.lists(ANSWERS, min_size=1, max_size=4), units=st.sampled_from([1, 2]))
    def open_the_shop(self, says: str, answers: list[str], units: int) -> None:
        self.shop = Shop()
        self.shop.review_says = says
        self.shop.bank.answers = answers
        for number, line in enumerate(self.shop.lines):
            self.asks(number, min(units, line.quantity), "damaged")
        self.shop.work_everything_off()

    # -- the customer ---------------------------------------------------------------------------------------------

    @rule(number=st.integers(0, 2), units=UNITS_ASKED, reason=st.sampled_from(["changed_mind", "damaged"]))
    def asks(self, number: int, units: int | None, reason: str) -> None:
        line = self.shop.lines[number]
        with refusals_are_answers():
            request = submit_request(
                customer=self.shop.customer,
                order_number=line.order.number,
                sku=line.sku,
                reason="changed_mind",  # needs no photo
                details="Please take it back.",
                units=units,
                source="api",
            )
            RefundRequest.objects.filter(pk=request.pk).update(reason=reason)

    @some(Status.NEEDS_CUSTOMER)
    @rule(pick=PICK, at_once=AT_ONCE)
    def answers(self, pick: int, at_once: bool) -> None:
        request = self.shop.request(pick, Status.NEEDS_CUSTOMER)
        submit_reply(customer=self.shop.customer, request_uuid=request.uuid, message="The left one.", source="page")
        self.worked_off(at_once)

    # -- staff ----------------------------------------------------------------------------------------------------

    @some(Status.NEEDS_APPROVAL)
    @rule(pick=PICK, choice=DECISIONS, part=PARTS, shipping=st.booleans(), at_once=AT_ONCE, units=UNITS_APPROVED)
    def decides(
        self, pick: int, choice: str, part: float, shipping: bool, at_once: bool, units: int | None = ALL
    ) -> None:
        """The whole amount is left for the product to say, and must be what the units cost."""
        card = Approval.objects.get(request=self.shop.request(pick, Status.NEEDS_APPROVAL), closed_at=None)
        approves, more = choice.startswith("approve"), SHIPPING if shipping else 0
        by_amount = approves and part < 1
        with refusals_are_answers():
            decision = decide(
                approval_id=card.pk,
                by=self.shop.maya,
                choice="approve" if approves else choice,
                note="" if approves else "Which one is it?",
                amount_minor=max(1, int(card.amount_minor * part)) + more if by_amount else None,
                shipping_minor=more if approves else 0,
                units=units if approves else None,
                require_return=choice.endswith("return"),
                source="desk",
            )
            if approves and not by_amount:
                request = card.request
                cost = running_total(request.amount_minor, request.units, units or request.units)
                assert decision.amount_minor == min(card.amount_minor, cost) + more
        self.worked_off(at_once)

    @some(Status.NEEDS_APPROVAL)
    @rule(pick=PICK, choice=st.sampled_from(["approve", "approve with return"]))
    def approves(self, pick: int, choice: str) -> None:
        self.decides(pick, choice, 1.0, False, True)

    @some(Status.AWAITING_RETURN, Status.CLOSED)
    @rule(pick=PICK, units=st.integers(1, 3), at_once=AT_ONCE)
    def receives(self, pick: int, units: int, at_once: bool) -> None:
        with refusals_are_answers():
            request = self.shop.request(pick, Status.AWAITING_RETURN, Status.CLOSED)
            record_receipt(request_uuid=request.uuid, by=self.shop.maya, units=units, source="page")
        self.worked_off(at_once)

    @rule(paused=st.booleans())
    def brakes(self, paused: bool) -> None:
        set_automatic_refunds(paused=paused, by=self.shop.lead, reason="A test.")

    @rule(pick=PICK, act=st.sampled_from(["answer", "receive", "take back"]))
    def somebody_acts_at_any_moment(self, pick: int, act: str) -> None:
        uuid, maya = self.shop.request(pick).uuid, self.shop.maya
        with refusals_are_answers():
            if act == "answer":
                submit_reply(customer=self.shop.customer, request_uuid=uuid, message="The left one.", source="page")
            elif act == "receive":
                record_receipt(request_uuid=uuid, by=maya, units=1, source="page")
            else:
                take_back(request_uuid=uuid, by=maya)

    # -- what each request waits for ------------------------------------------------------------------------------

    def goes_on(self, pick: int, choice: str, word: str, comes: bool) -> None:
        """Whoever a request waits for does their part, or lets the time run out, and it is worked off."""
        waiting = [pk for pk, status in self.statuses.items() if status not in ENDS]
        waiting.sort(key=lambda pk: (self.statuses[pk] == Status.NEEDS_APPROVAL, pk))
        request = RefundRequest.objects.get(pk=waiting[pick % len(waiting)])
        place = sorted(pk for pk, status in self.statuses.items() if status == request.status).index(request.pk)
        if request.status == Status.NEEDS_APPROVAL:
            self.decides(place, choice, 1.0, choice == "approve with return", True)
        elif request.status in WAITS_FOR_CUSTOMER and not comes:
            self.nobody_does_anything(request)
        elif request.status == Status.NEEDS_CUSTOMER:
            self.answers(place, True)
        elif request.status == Status.AWAITING_RETURN:
            self.receives(place, 1, True)
        elif request.status == Status.REFUNDING and self.shop.bank.book:
            self.the_bank_tells(place, word, False, True)
        self.shop.work_everything_off()

    def nobody_does_anything(self, request: RefundRequest) -> None:
        """Until the last day set for the customer is over."""
        for _ in range(2):
            for run in Run.objects.filter(request=request, status="queued").order_by("created_at"):
                Run.objects.filter(pk=run.pk).update(due_at=timezone.now())
            self.shop.work_everything_off()

    @some(*OPEN)
    @rule(pick=PICK, choice=DECISIONS, word=WORDS, comes=st.booleans())
    def one_goes_on(self, pick: int, choice: str, word: str, comes: bool) -> None:
        self.goes_on(pick, choice, word, comes)

    @some(*OPEN)
    @rule(choice=DECISIONS, word=WORDS, comes=st.booleans())
    def the_furthest_goes_on(self, choice: str, word: str, comes: bool) -> None:
        self.goes_on(0, choice, word, comes)

    # -- the agent and its workers --------------------------------------------------------------------------------

    @rule(says=REVIEWS)
    def reviews_will_say(self, says: str) -> None:
        self.shop.review_says = says

    @rule()
    def works_everything_off(self) -> None:
        self.shop.work_everything_off()

    @rule()
    def works_one_off_and_hears_of_it_twice(self) -> None:
        run = next_due()
        if run is not None:
            work(str(run.pk))
            work(str(run.pk))

    @rule(deaths=st.sampled_from([1, 1, MOST_TRIES]))
    def the_next_workers_die(self, deaths: int) -> None:
        """Right after they have taken their run; after three of them a person gets the request."""
        self.shop.deaths = deaths

    @rule()
    def a_worker_dies_and_nobody_has_noticed_yet(self) -> None:
        run = next_due()
        if run is not None and claim(run.pk) is not None:
            lease_runs_out(pk=run.pk)

    @rule()
    def the_sweep_comes(self) -> None:
        sweep()

    # -- the bank and the clock -----------------------------------------------------------------------------------

    @rule(answers=st.lists(ANSWERS, min_size=1, max_size=3))
    def the_bank_will_answer(self, answers: list[str]) -> None:
        self.shop.work_everything_off()
        self.shop.bank.answers = answers

    @precondition(lambda self: self.shop.bank.book)
    @rule(pick=PICK, word=WORDS, twice=st.booleans(), at_once=AT_ONCE)
    def the_bank_tells(self, pick: int, word: str, twice: bool, at_once: bool) -> None:
        keys = list(self.shop.bank.book)  # as it came to know them: a life must go the same way when it is replayed
        key = keys[pick % len(keys)]
        self.shop.tell(key, word)
        for _ in range(1 + twice):
            self.hears(key)
        self.worked_off(at_once)

    @precondition(lambda self: self.shop.bank.left_minor > 0 and len(self.shop.bank.by_hand) < MOST_BY_HAND)
    @rule(amount=st.sampled_from([300, 1999, CAPTURED]), word=BY_HAND, heard=st.booleans())
    def somebody_refunds_by_hand(self, amount: int, word: str, heard: bool) -> None:
        """In the bank's dashboard, which knows nothing of what we have reserved."""
        key = self.shop.bank.refund_by_hand(amount, self.shop.charge.reference, word)
        if heard:
            self.hears(key)

    def hears(self, key: str) -> None:
        new = key in self.shop.not_heard_of
        self.shop.hear(key)
        if new:
            self.most_back = max(CAPTURED, self.out())

    @some(Status.REFUNDING)
    @rule(at_once=AT_ONCE)
    def a_day_passes(self, at_once: bool) -> None:
        self.shop.ask_about_what_is_in_flight()
        self.worked_off(at_once)

    @some(*WAITS_FOR_CUSTOMER)
    @rule(pick=PICK, at_once=AT_ONCE)
    def weeks_pass(self, pick: int, at_once: bool) -> None:
        later = due_later()
        if later:
            Run.objects.filter(pk=later[pick % len(later)].pk).update(due_at=timezone.now())
        self.worked_off(at_once)

    def out(self) -> int:
        """What our book says has gone back or is going, with what was made by hand."""
        live = Refund.objects.filter(status__in=LIVE_REFUND_STATUSES)
        return live.aggregate(sum=Sum("amount_minor"))["sum"] or 0

    # -- the end --------------------------------------------------------------------------------------------------

    def worked_off(self, at_once: bool) -> None:
        if at_once:
            self.shop.work_everything_off()

    def teardown(self) -> None:
        try:
            if self.statuses:
                self.bring_to_rest()
                self.seen.update(reached())
                self.seen["bank refused what was refunded by hand"] += len(self.shop.bank.refused)
                self.seen["lives"] += 1
        finally:
            self.watching.__exit__(None, None, None)
            transaction.set_rollback(True)
            self.outer.__exit__(None, None, None)

    def bring_to_rest(self) -> None:
        self.shop.bank.answers, self.shop.deaths = ["succeeded"], 0
        for key in self.shop.not_heard_of:
            self.hears(key)
        for _ in range(MOST_TRIES + 1):
            lease_runs_out()
            sweep()
            self.shop.work_everything_off()
            self.shop.ask_about_what_is_in_flight()
        self.shop.work_everything_off()
        self.everything_rests()
