"""Before money goes back, Stripe is asked for refunds made by hand of which no message has told the desk."""

from __future__ import annotations

from typing import Any

import pytest

from agent.decide import decide
from agent.lease import LeaseLost
from agent.models import Approval, Run
from agent.outcomes import Blocked, PhotoEvidence, Reserved
from agent.pay import refund_automatically
from agent.runs import claim
from intake.models import RefundRequest
from intake.record_receipt import record_receipt
from intake.shop_clock import day_name
from payments.models import Charge, OrderLine, Refund
from payments.settle_refund import settle_refund
from tests.agent.work_off import open_card, told, work_off
from tests.factories import ApprovalFactory, ChargeFactory, LineFactory, RefundFactory, RequestFactory, StaffFactory
from tests.payments.desk_at_stripe import approve, refund_of, waiting_card
from tests.payments.stripe_rows import held, outcomes, paid
from tests.stripe_book import CUT_OFF_BUT_DONE
from tests.stripe_server import StripeServer

pytestmark = pytest.mark.django_db
LOOK, PAY = "GET /v1/refunds", "POST /v1/refunds"


@pytest.fixture
def line(stripe_server: StripeServer) -> OrderLine:
    """Of $34.00, in an order whose payment holds much more."""
    row: OrderLine = LineFactory()
    paid(stripe_server, 10_000, order=row.order)
    return row


@pytest.fixture
def card(line: OrderLine) -> Approval:
    request = RequestFactory(line=line, status="needs_approval")
    request.runs.all().delete()
    row: Approval = ApprovalFactory(request=request)
    return row


def by_hand(server: StripeServer, amount_minor: int, **more: Any) -> str:
    return str(server.by_hand(Charge.objects.get().reference, amount_minor, **more)["id"])


def written() -> list[tuple[str | None, int]]:
    rows = Refund.objects.filter(request_uuid=None).order_by("amount_minor")
    return list(rows.values_list("provider_reference", "amount_minor"))


def asked(server: StripeServer) -> list[str]:
    return [each.what for each in server.asked]


def automatically(line: OrderLine) -> Reserved | Blocked:
    lease = claim(RequestFactory(line=line).runs.get().pk)
    assert lease is not None
    return refund_automatically(lease, PhotoEvidence(verdict="yes"))


def test_a_customer_who_got_the_money_by_hand_is_not_paid_again_by_the_agent(
    stripe_server: StripeServer, line: OrderLine
) -> None:
    refund = by_hand(stripe_server, 3400)
    answer = automatically(line)
    assert isinstance(answer, Blocked)
    assert [each.rule for each in answer.failed] == ["history"]
    row = Refund.objects.get()
    assert (written(), outcomes(row), held(row)) == ([(refund, 3400)], [("succeeded", "import")], 3400)
    assert asked(stripe_server) == [LOOK]


def test_what_did_not_go_through_by_hand_or_is_known_stops_nothing(
    stripe_server: StripeServer, line: OrderLine
) -> None:
    by_hand(stripe_server, 3400, status="failed")
    by_hand(stripe_server, 3400, status="canceled")
    assert isinstance(automatically(line), Reserved)
    assert (written(), asked(stripe_server)) == ([], [LOOK])


def test_a_refund_of_ours_whose_answer_was_lost_is_not_taken_for_one_by_hand(
    stripe_server: StripeServer, card: Approval
) -> None:
    stripe_server.stumbles.append(CUT_OFF_BUT_DONE)
    in_flight = RefundFactory(charge=Charge.objects.get(), amount_minor=2000)
    assert settle_refund(in_flight.pk, "run").status == "reserved"
    assert approve(card).status == "refunded"
    assert (written(), Refund.objects.count()) == ([], 2)


def test_staff_decide_again_when_money_went_back_by_hand_and_no_message_told(
    stripe_server: StripeServer, card: Approval
) -> None:
    refund = by_hand(stripe_server, 3400)
    request = approve(card)
    day = day_name(Refund.objects.get().reserved_at)
    assert (request.status, told(request), asked(stripe_server)) == ("needs_approval", [], [LOOK])
    assert open_card(request).concerns[0]["text"] == (
        f"$34.00 of this order went back by hand at the payment provider on {day}, and the shop heard of it only after "
        "this was decided or in the ten minutes before. Decide again whether more is to be paid."
    )
    assert approve(open_card(request), StaffFactory()).status == "refunded"
    assert (written(), asked(stripe_server)) == ([(refund, 3400)], [LOOK, LOOK, PAY])


def test_a_return_that_came_back_is_not_paid_on_top_of_a_refund_by_hand(
    stripe_server: StripeServer, card: Approval
) -> None:
    decide(approval_id=card.pk, by=StaffFactory(), choice="approve", require_return=True, source="desk")
    assert work_off(card.request).status == "awaiting_return"
    assert asked(stripe_server) == []
    by_hand(stripe_server, 3400)
    record_receipt(request_uuid=card.request.uuid, by=StaffFactory(), source="page")
    assert (work_off(card.request).status, asked(stripe_server)) == ("needs_approval", [LOOK])


def test_an_order_of_two_payments_is_paid_from_the_one_that_still_holds_enough(stripe_server: StripeServer) -> None:
    card = waiting_card(stripe_server)
    by_hand(stripe_server, 2000)
    second = paid(stripe_server, 3400, order=card.request.line.order)
    request = approve(card)
    assert (request.status, len(stripe_server.posts)) == ("needs_approval", 0)
    request = approve(open_card(request), StaffFactory())
    assert (request.status, refund_of(request).charge) == ("refunded", second)


def test_a_refund_by_hand_that_is_all_there_was_is_left_to_be_adopted(stripe_server: StripeServer) -> None:
    card = waiting_card(stripe_server)
    refund = by_hand(stripe_server, 3400)
    request = approve(card)
    assert (request.status, refund_of(request).provider_reference, written()) == ("refunded", refund, [])
    assert asked(stripe_server) == [LOOK, PAY, LOOK]


def test_a_stripe_that_does_not_answer_leaves_the_refund_in_flight_as_ever(
    stripe_server: StripeServer, card: Approval
) -> None:
    stripe_server.down = True
    request = approve(card)
    assert (request.status, refund_of(request).status, written()) == ("refunding", "reserved", [])
    stripe_server.down = False
    assert settle_refund(refund_of(request).pk, "beat").status == "succeeded"


def test_only_payments_at_stripe_that_hold_enough_are_looked_at(stripe_server: StripeServer) -> None:
    line = LineFactory()
    paid(stripe_server, 3399, order=line.order)
    ChargeFactory(order=line.order, provider="stripe", reference="book_1", captured_minor=9000)
    ChargeFactory(order=line.order, provider="ledger", captured_minor=9000)
    paid(stripe_server, 9000)
    assert isinstance(automatically(line), Reserved)
    assert asked(stripe_server) == []


def test_a_worker_that_has_lost_its_run_does_not_even_look(stripe_server: StripeServer, line: OrderLine) -> None:
    lease = claim(RequestFactory(line=line).runs.get().pk)
    assert lease is not None
    Run.objects.update(status="queued", token=None, lease_until=None)
    with pytest.raises(LeaseLost):
        refund_automatically(lease, PhotoEvidence(verdict="yes"))
    assert (asked(stripe_server), RefundRequest.objects.get().status) == ([], "working")
