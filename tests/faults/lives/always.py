"""What holds after every single thing that happens. The model is small: the bank's book, and rows as they last were."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db import connection
from hypothesis.stateful import invariant

from agent.verify.shop import verify_shop
from intake.models import Receipt, RefundRequest, Step
from intake.statuses import ENDS, Status
from payments.models import NEEDS_THE_CUSTOMER, Charge, Refund, RefundOutcome
from tests.faults.lives.rows import Rows, Writes
from tests.faults.lives.shop import CAPTURED, SHIPPING, Shop
from tests.faults.told_once import refunds_not_told, told_too_often


def running_total(paid_minor: int, quantity: int, units: int) -> int:
    """What the first `units` of `quantity` cost, half a cent upwards; in whole numbers, unlike the product's."""
    return (2 * paid_minor * units + quantity) // (2 * quantity)


class Always:
    """Mixed into the machine; `statuses` and `customer_read` are what was seen after the step before. `most_back`: so
    much may be out of the charge, which is more than it took only where somebody refunded by hand what we had
    reserved."""

    shop: Shop

    def __init__(self) -> None:
        super().__init__()
        self.statuses: dict[int, str] = {}
        self.customer_read: dict[int, list[tuple[Any, ...]]] = {}
        self.most_back = CAPTURED
        self.writes = Writes()
        self.watching = connection.execute_wrapper(self.writes)

    @invariant()
    def holds(self) -> None:
        if not self.writes.since_last_asked():
            return
        rows = Rows()
        self.money_adds_up(rows)
        self.units_cost_what_was_paid_for_them(rows)
        self.whom_the_bank_waits_for_is_told(rows)
        self.ends_stay_ends(rows)
        self.at_most_one_card_is_open(rows)
        self.what_the_customer_read_stays(rows)
        self.every_unit_is_asked_for_once(rows)
        assert told_too_often() == []

    def money_adds_up(self, rows: Rows) -> None:
        out, bank = sum(refund.amount_minor for refund in rows.live), self.shop.bank
        assert Charge.objects.get(pk=self.shop.charge.pk).reserved_minor == min(out, CAPTURED)
        assert out <= self.most_back
        self.most_back = max(CAPTURED, out)
        assert sum(refund.shipping_minor for refund in rows.live) <= SHIPPING
        assert max(Counter(request.pk for _, request in rows.live_of_requests).values(), default=0) <= 1
        assert set(bank.given_back) - set(self.shop.not_heard_of) <= {refund.key for refund in rows.live}
        assert bank.by_hand or not bank.refused, "we asked the bank for more than it took"

    def units_cost_what_was_paid_for_them(self, rows: Rows) -> None:
        """One after the other as much as all at once, to the cent; and no refund more than its units cost."""
        for line in self.shop.lines:
            asked = paid = 0
            for request in (one for one in rows.requests if one.line_id == line.pk):
                asked, paid = asked + request.units, paid + request.amount_minor
                assert paid == running_total(line.paid_minor, line.quantity, asked)
        for refund, request in rows.live_of_requests:
            assert 1 <= refund.units <= request.units
            most = running_total(request.amount_minor, request.units, refund.units)
            assert refund.amount_minor - refund.shipping_minor <= most

    def whom_the_bank_waits_for_is_told(self, rows: Rows) -> None:
        """As soon as no run is left that has to tell it; and nobody is told who was never waited for."""
        for refund, request in rows.live_of_requests:
            if refund.status != Refund.Status.PENDING or request.pk in rows.busy:
                continue
            expected = "refund_needs_you" if refund.pending_reason == NEEDS_THE_CUSTOMER else "on_its_way"
            since = [step for step in rows.read_by_customer(request) if step.created_at >= refund.reserved_at]
            assert expected in {step.message_key for step in since}
        for request in rows.requests:
            if "refund_needs_you" in {step.message_key for step in rows.read_by_customer(request)}:
                refunds = Refund.objects.filter(request_uuid=request.uuid)
                assert RefundOutcome.objects.filter(refund__in=refunds, reason=NEEDS_THE_CUSTOMER).exists()

    def ends_stay_ends(self, rows: Rows) -> None:
        for request in rows.requests:
            before = self.statuses.get(request.pk)
            if before in ENDS and request.status != before:
                self.left_for_a_reason(request, before, rows)
            if request.status == Status.REFUNDED:
                last = rows.refunds_of(request.uuid)[-1]
                assert last.status == Refund.Status.SUCCEEDED or rows.outcome_is_to_be_told(request)
            self.statuses[request.pk] = request.status

    def left_for_a_reason(self, request: RefundRequest, before: str, rows: Rows) -> None:
        """Straight to staff, who answer in a step of their own; and never without news."""
        assert (request.status, request.reopened) == (Status.NEEDS_APPROVAL, True)
        refunds = rows.refunds_of(request.uuid)
        arrived = Receipt.objects.filter(parcel__request=request).exists()
        news = {
            Status.REFUNDED: bool(refunds) and refunds[-1].status == Refund.Status.FAILED,
            Status.CLOSED: arrived,
            Status.DECLINED: arrived,
        }
        assert news[Status(before)], f"{before} was left without news"

    def at_most_one_card_is_open(self, rows: Rows) -> None:
        before_staff = [request.pk for request in rows.requests if request.status == Status.NEEDS_APPROVAL]
        assert rows.open_cards == dict.fromkeys(before_staff, 1)

    def what_the_customer_read_stays(self, rows: Rows) -> None:
        for request in rows.requests:
            steps = rows.read_by_customer(request)
            now = [(step.position, step.title, step.detail, step.message_key) for step in steps]
            before = self.customer_read.get(request.pk, [])
            assert now[: len(before)] == before
            self.customer_read[request.pk] = now

    def every_unit_is_asked_for_once(self, rows: Rows) -> None:
        asked: Counter[int] = Counter()
        for request in rows.requests:
            asked[request.line_id] += request.units
        assert all(asked[line.pk] <= line.quantity for line in self.shop.lines)

    def everything_rests(self) -> None:
        """At the end of a life, when all is worked off and the bank has been asked."""
        self.holds()
        assert not {Status.SUBMITTED, Status.WORKING} & set(self.statuses.values())
        assert not Step.objects.filter(state="running").exists()
        book = {key: answer.status for key, answer in self.shop.bank.book.items()}
        assert dict(Refund.objects.values_list("key", "status")) == book
        waits = {key: answer.reason for key, answer in self.shop.bank.book.items() if answer.status == "pending"}
        assert dict(Refund.objects.filter(status="pending").values_list("key", "pending_reason")) == waits
        assert refunds_not_told() == []
        for request in RefundRequest.objects.filter(status=Status.REFUNDING):
            assert Refund.objects.filter(request_uuid=request.uuid, status__in=["reserved", "pending"]).exists()
        assert verify_shop().misfits == []
