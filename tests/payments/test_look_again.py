"""A bank may send back what Stripe had said was through; without Stripe's message the desk finds it by itself."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from payments.look_again import look_again_at_refunds
from payments.models import Refund
from payments.settle_refund import settle_refund
from payments.tasks import settle_in_flight as beat_task
from tests.agent.work_off import open_card, told, work_off
from tests.factories import RefundFactory
from tests.payments.desk_at_stripe import approve, waiting_card
from tests.payments.stripe_rows import deliver, fresh, held, outcomes, paid, reserved
from tests.stripe_server import StripeServer

pytestmark = pytest.mark.django_db
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)


def through(server: StripeServer) -> Refund:
    return settle_refund(reserved(server).pk, "run")


def looks(server: StripeServer) -> int:
    return len([asked for asked in server.asked if asked.what.startswith("GET /v1/refunds/")])


def test_a_refund_that_fails_late_is_before_staff_although_no_message_came(stripe_server: StripeServer) -> None:
    request = approve(waiting_card(stripe_server))
    assert request.status == "refunded"
    stripe_server.turn(stripe_server.refunds[0]["id"], "failed", failure_reason="declined")
    Refund.objects.update(asked_at=timezone.now() - DAY)
    beat_task()
    request = work_off(request)
    assert (request.status, told(request)) == ("needs_approval", ["refunded", "refund_did_not_go_through"])
    assert open_card(request).concerns[0]["text"] == (
        "The bank refused the refund of $34.00 after it had said it was through: the customer's bank declined it."
    )
    refund = Refund.objects.get()
    assert (outcomes(refund), held(refund)) == ([("succeeded", "run"), ("failed", "beat")], 0)


def test_one_made_by_hand_that_fails_late_gives_its_payment_the_money_back(stripe_server: StripeServer) -> None:
    by_hand = stripe_server.by_hand(paid(stripe_server).reference, 3400)
    deliver(stripe_server.event("refund.created", by_hand))
    refund = Refund.objects.get()
    stripe_server.turn(by_hand["id"], "failed")
    assert look_again_at_refunds(timezone.now() + DAY + MINUTE) == 1
    assert (fresh(refund).status, held(refund)) == ("failed", 0)


def test_each_is_looked_at_once_a_day_as_long_as_it_may_fail(stripe_server: StripeServer) -> None:
    refund = through(stripe_server)
    now = timezone.now()
    assert look_again_at_refunds(now + DAY - MINUTE) == 0
    assert [look_again_at_refunds(now + DAY + MINUTE) for _ in range(2)] == [1, 0]
    assert look_again_at_refunds(now + 2 * DAY + MINUTE) == 1
    assert (looks(stripe_server), outcomes(refund)) == (2, [("succeeded", "run")])
    Refund.objects.update(asked_at=now + 43 * DAY)
    assert look_again_at_refunds(now + 45 * DAY + MINUTE) == 0
    assert look_again_at_refunds(now + 45 * DAY - MINUTE) == 1


@pytest.mark.parametrize("what", ["the shop's own book", "failed", "never named by Stripe"])
def test_what_cannot_fail_any_more_is_not_looked_at(stripe_server: StripeServer, what: str) -> None:
    long_ago = timezone.now() - 2 * DAY
    RefundFactory(
        charge__provider="ledger" if what == "the shop's own book" else "stripe",
        status="failed" if what == "failed" else "succeeded",
        provider_reference=None if what == "never named by Stripe" else "re_1",
        asked_at=long_ago,
        settled_at=long_ago,
    )
    assert look_again_at_refunds() == 0


def test_without_an_answer_nothing_changes_and_the_others_have_their_turn_at_the_next_call(
    stripe_server: StripeServer,
) -> None:
    first, second = through(stripe_server), through(stripe_server)
    Refund.objects.filter(pk=first.pk).update(asked_at=timezone.now() - MINUTE)
    stripe_server.turn(str(second.provider_reference), "failed")
    stripe_server.down = True
    tomorrow = timezone.now() + DAY + MINUTE
    assert look_again_at_refunds(tomorrow) == 1
    assert (fresh(first).status, fresh(second).status) == ("succeeded", "succeeded")
    stripe_server.down = False
    assert look_again_at_refunds(tomorrow) == 1
    assert (fresh(first).status, fresh(second).status) == ("succeeded", "failed")


def test_a_batch_is_bounded(stripe_server: StripeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("payments.look_again.BATCH", 2)
    for _ in range(3):
        through(stripe_server)
    tomorrow = timezone.now() + DAY + MINUTE
    assert [look_again_at_refunds(tomorrow) for _ in range(3)] == [2, 1, 0]
