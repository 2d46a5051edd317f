"""What holds after every single thing that happens. The model is small: the bank's book, and rows as they last were."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db.models import Count, Sum
from hypothesis.stateful import invariant

from agent.models import Run
from agent.verify.shop import verify_shop
from intake.models import Receipt, RefundRequest, Step
from intake.statuses import ENDS, Status
from payments.models import LIVE_REFUND_STATUSES, Charge, OrderLine, Refund
from tests.faults.lives.shop import CAPTURED, SHIPPING, Shop
from tests.faults.told_once import refunds_not_told, told_too_often


class Always:
    """Mixed into the machine; `statuses` and `customer_read` are what was seen after the step before."""

    shop: Shop

    def __init__(self) -> None:
        super().__init__()
        self.statuses: dict[int, str] = {}
        self.customer_read: dict[int, list[tuple[Any, ...]]] = {}

    @invariant()
    def money_adds_up(self) -> None:
        live = Refund.objects.filter(status__in=LIVE_REFUND_STATUSES)
        charge = Charge.objects.get(pk=self.shop.charge.pk)
        assert charge.reserved_minor == (live.aggregate(sum=Sum("amount_minor"))["sum"] or 0) <= CAPTURED
        assert (live.aggregate(sum=Sum("shipping_minor"))["sum"] or 0) <= SHIPPING
        assert max(Counter(live.values_list("request_uuid", flat=True)).values(), default=0) <= 1
        for refund in live:
            assert refund.request_uuid is not None
            asked_for = RefundRequest.objects.get(uuid=refund.request_uuid).amount_minor
            assert refund.amount_minor - refund.shipping_minor <= asked_for
        assert sum(self.given_back().values()) <= CAPTURED
        assert set(self.given_back()) <= {refund.key for refund in live}

    def given_back(self) -> dict[str, int]:
        """What the bank has sent or is sending: key -> amount."""
        bank = self.shop.bank
        amounts = {order.key: order.amount_minor for order in bank.asked}
        return {key: amounts[key] for key, answer in bank.book.items() if answer.status != "failed"}

    @invariant()
    def ends_stay_ends(self) -> None:
        for request in RefundRequest.objects.all():
            before = self.statuses.get(request.pk)
            if before in ENDS and request.status != before:
                self.left_for_a_reason(request, before)
            if request.status == Status.REFUNDED:
                last = Refund.objects.filter(request_uuid=request.uuid).latest("attempt")
                told_soon = Run.objects.filter(request=request, trigger="outcome", status__in=["queued", "running"])
                assert last.status == "succeeded" or told_soon.exists()
            self.statuses[request.pk] = request.status

    def left_for_a_reason(self, request: RefundRequest, before: str) -> None:
        """Straight to staff, who answer in a step of their own; and never without news."""
        assert (request.status, request.reopened) == (Status.NEEDS_APPROVAL, True)
        refunds = Refund.objects.filter(request_uuid=request.uuid)
        arrived = Receipt.objects.filter(parcel__request=request).exists()
        news = {
            Status.REFUNDED: refunds.exists() and refunds.latest("attempt").status == "failed",
            Status.CLOSED: arrived,
            Status.DECLINED: arrived,
        }
        assert news[Status(before)], f"{before} was left without news"

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
    def nothing_is_told_more_often_than_it_happened(self) -> None:
        assert told_too_often() == []

    @invariant()
    def every_unit_is_asked_for_once(self) -> None:
        for line in OrderLine.objects.annotate(asked=Sum("refund_requests__units")):
            assert (line.asked or 0) <= line.quantity

    def holds(self) -> None:
        """All of the above, for lives that are told and not drawn."""
        self.money_adds_up()
        self.ends_stay_ends()
        self.at_most_one_card_is_open()
        self.what_the_customer_read_stays()
        self.nothing_is_told_more_often_than_it_happened()
        self.every_unit_is_asked_for_once()

    def everything_rests(self) -> None:
        """At the end of a life, when all is worked off and the bank has been asked."""
        self.holds()
        assert not {Status.SUBMITTED, Status.WORKING} & set(self.statuses.values())
        assert not Step.objects.filter(state="running").exists()
        book = {key: answer.status for key, answer in self.shop.bank.book.items()}
        assert dict(Refund.objects.values_list("key", "status")) == book
        assert refunds_not_told() == []
        for request in RefundRequest.objects.filter(status=Status.REFUNDING):
            assert Refund.objects.filter(request_uuid=request.uuid, status__in=["reserved", "pending"]).exists()
        assert verify_shop().misfits == []
