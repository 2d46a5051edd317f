"""The sequences of the field reports in which money goes back outside this desk: by hand, or for a double payment."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from agent.models import Run
from intake.models import RefundRequest
from intake.refusals import Refusal
from payments.models import Charge, Refund
from payments.settle_in_flight import settle_due_refunds
from tests.agent.work_off import open_card, told, work_off
from tests.payments.desk_at_stripe import approve, refund_of, waiting_card
from tests.payments.scenarios import Case, after, numbers
from tests.payments.stripe_rows import deliver, fresh, held, paid
from tests.stripe_server import StripeServer


def approved_after_two_by_hand(stripe_server: StripeServer) -> RefundRequest:
    """$34.00 are approved that went back by hand meanwhile, in two parts; the case is before staff again."""
    card = waiting_card(stripe_server)
    reference = Charge.objects.get().reference
    stripe_server.by_hand(reference, 2000)
    stripe_server.by_hand(reference, 1400)
    request = approve(card)
    assert request.status == "needs_approval"
    return request


@pytest.mark.django_db
def test_p08_refunded_by_hand_before_our_call_is_reconciled_when_it_fits(stripe_server: StripeServer) -> None:
    card = waiting_card(stripe_server)
    by_hand = stripe_server.by_hand(Charge.objects.get().reference, 3400)
    request = approve(card)
    refund = refund_of(request)
    assert (request.status, refund.provider_reference) == ("refunded", by_hand["id"])
    deliver(stripe_server.event("refund.created", by_hand))
    assert (Refund.objects.count(), len(stripe_server.refunds), held(refund)) == (1, 1, 3400)


@pytest.mark.django_db
def test_p08_refunded_by_hand_in_another_amount_comes_to_staff_and_is_not_asked_sixty_times(
    case: Case, stripe_server: StripeServer
) -> None:
    [times] = numbers(case.expected)
    request = approved_after_two_by_hand(stripe_server)
    assert "of this order went back by hand at the payment provider" in open_card(request).concerns[0]["text"]
    assert [row.amount_minor for row in Refund.objects.order_by("amount_minor")] == [1400, 2000]
    with pytest.raises(Refusal, match=r"at most \$0\.00 is left"):
        approve(open_card(request))
    assert "else staff" in case.expected
    for hours in range(times):
        settle_due_refunds(timezone.now() + timedelta(hours=hours))
    assert (len(stripe_server.asked), stripe_server.posts) == (1, [])


@pytest.mark.django_db
@pytest.mark.usefixtures("at_the_last_moment")
def test_p08_refunded_by_hand_at_the_last_moment_comes_to_staff_and_is_not_asked_sixty_times(
    case: Case, stripe_server: StripeServer
) -> None:
    [times] = numbers(case.expected)
    request = approved_after_two_by_hand(stripe_server)
    assert open_card(request).concerns[0]["text"] == (
        "The refund of $34.00 did not go through: the payment has been given back already, by a refund made outside "
        "this desk."
    )
    asked = len(stripe_server.asked)
    assert "else staff" in case.expected
    for hours in range(times):
        settle_due_refunds(timezone.now() + timedelta(hours=hours))
    assert (len(stripe_server.asked), asked) == (2, 2)


@pytest.mark.django_db
def test_p08_the_dashboards_message_came_first_and_the_money_is_no_more_to_be_had(stripe_server: StripeServer) -> None:
    card = waiting_card(stripe_server)
    deliver(stripe_server.event("refund.created", stripe_server.by_hand(Charge.objects.get().reference, 3400)))
    with pytest.raises(Refusal, match=r"at most \$0\.00 is left"):
        approve(card)
    assert stripe_server.posts == []


@pytest.mark.django_db
def test_p14_the_double_of_a_payment_given_back_closes_no_request(case: Case, stripe_server: StripeServer) -> None:
    payments = [event.split()[1] for event in case["events"]]
    assert payments == [after(case.expected, "paid by"), "B", "B"]
    card = waiting_card(stripe_server)
    order = card.request.line.order
    paid_by = Charge.objects.get()
    double = paid(stripe_server, 3400, order=order)
    by_hand = stripe_server.by_hand(double.reference, 3400)
    deliver(stripe_server.event("charge.refunded", stripe_server.charge_object(double.reference)))
    deliver(stripe_server.event("refund.created", by_hand))
    request = work_off(card.request)
    assert request.status != after(case.expected, "not closed as")
    assert (request.status, told(request), Run.objects.count()) == ("needs_approval", [], 0)
    assert (fresh_charge(paid_by).left_minor, fresh_charge(double).left_minor) == (3400, 0)
    row = Refund.objects.get()
    assert (row.request_uuid, fresh(row).charge_id) == (None, double.pk)
    request = approve(card)
    assert open_card(request).concerns[0]["text"].startswith("$34.00 of this order went back by hand")
    assert approve(open_card(request)).status == "refunded"
    assert fresh_charge(paid_by).left_minor == 0


def fresh_charge(charge: Charge) -> Charge:
    return Charge.objects.get(pk=charge.pk)


@pytest.mark.django_db
def test_p14_a_request_on_its_way_is_not_closed_by_the_doubles_refund(stripe_server: StripeServer) -> None:
    stripe_server.becomes = {"status": "pending"}
    request = approve(waiting_card(stripe_server))
    double = paid(stripe_server, 3400, order=request.line.order)
    deliver(stripe_server.event("refund.created", stripe_server.by_hand(double.reference, 3400, status="succeeded")))
    assert work_off(request).status == "refunding"
