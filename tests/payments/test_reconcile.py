"""`manage.py reconcile`: each difference is named with what to do about it, and none is a one-line count."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from payments.models import Charge, Refund
from payments.settle_refund import settle_refund
from tests.factories import ChargeFactory, RefundFactory
from tests.payments.stripe_rows import fresh, held, outcomes, paid, reserved
from tests.stripe_server import StripeServer

pytestmark = pytest.mark.django_db
LONG_AGO = timedelta(days=3)


def reconcile(*words: str) -> tuple[bool, list[str]]:
    """Whether nothing is left to do, and the lines it wrote; the last one is the count."""
    out = StringIO()
    try:
        call_command("reconcile", *words, stdout=out)
    except CommandError as error:
        return False, [*out.getvalue().splitlines(), str(error)]
    return True, out.getvalue().splitlines()


def test_books_that_agree_are_one_line(stripe_server: StripeServer) -> None:
    RefundFactory(status="succeeded")
    settle_refund(reserved(stripe_server).pk, "run")
    paid(stripe_server)
    assert reconcile() == (
        True,
        ["Payments compared: 3, refunds: 2, payments asked for at Stripe: 2. Differences left: none."],
    )


def test_an_empty_book_has_no_difference() -> None:
    assert reconcile()[0]


def test_a_sum_that_is_not_the_sum_of_the_refunds_is_named_and_counted_anew() -> None:
    refund = RefundFactory(amount_minor=1500)
    RefundFactory(charge=refund.charge, amount_minor=700, status="failed")
    Charge.objects.update(reserved_minor=2200)
    fine, lines = reconcile()
    assert not fine
    assert lines == [
        f"payment {refund.charge.reference} of order {refund.charge.order.number}: the book holds $22.00 for its "
        "refunds, and they add up to $15.00.",
        "    to do: to hold what the refunds add up to, run `manage.py reconcile --apply`.",
        "Payments compared: 1, refunds: 2, payments asked for at Stripe: 0. Differences left: 1.",
    ]
    assert held(refund) == 2200
    fine, lines = reconcile("--apply")
    assert (fine, lines[1], held(refund)) == (True, "    done: counted anew.", 1500)
    assert reconcile()[0]


def test_more_than_the_payment_took_is_named_and_needs_a_person(stripe_server: StripeServer) -> None:
    charge = paid(stripe_server, 5000)
    RefundFactory(charge=charge, amount_minor=3000, status="succeeded", provider_reference="re_1")
    RefundFactory(charge=charge, status="failed", amount_minor=3000)
    Refund.objects.filter(status="failed").update(status="succeeded", provider_reference="re_2")
    Charge.objects.update(reserved_minor=5000)
    _, lines = reconcile("--apply")
    assert "$10.00 more went back than it took." in lines[0]
    assert "which refund was made twice" in lines[1]
    assert not reconcile()[0]


def test_a_refund_without_an_answer_for_a_day_is_named() -> None:
    young = RefundFactory()
    old = RefundFactory(reserved_at=timezone.now() - LONG_AGO)
    _, lines = reconcile()
    assert lines[0].startswith(f"refund {old.reference} of payment")
    assert "given no answer since" in lines[0]
    assert young.reference not in "".join(lines)


def test_a_refund_on_its_way_for_ten_days_is_named_with_what_it_waits_for() -> None:
    young = RefundFactory(status="pending", reserved_at=timezone.now() - timedelta(days=9))
    old = RefundFactory(
        status="pending",
        pending_reason="the bank looks for the account",
        reserved_at=timezone.now() - timedelta(days=11),
    )
    _, lines = reconcile()
    assert lines[0].startswith(f"refund {old.reference} of payment")
    assert "on its way since" in lines[0]
    assert "(the bank looks for the account)" in lines[0]
    assert young.reference not in "".join(lines)


def test_a_refund_made_by_hand_that_no_message_told_of_is_named_and_written_down(stripe_server: StripeServer) -> None:
    charge = paid(stripe_server, 5000)
    by_hand = stripe_server.by_hand(charge.reference, 1000)
    stripe_server.by_hand(charge.reference, 900, status="failed")
    fine, lines = reconcile()
    assert not fine
    assert f"refund {by_hand['id']} of payment {charge.reference}" in lines[0]
    assert "Stripe has it (succeeded, 1000 usd in Stripe's units), the book has not" in lines[0]
    assert not Refund.objects.exists()
    assert reconcile("--apply")[0]
    row = Refund.objects.get()
    assert (row.request_uuid, row.amount_minor, outcomes(row), held(row)) == (
        None,
        1000,
        [("succeeded", "import")],
        1000,
    )
    assert reconcile()[0]


def test_what_cannot_be_written_down_stays_a_difference(stripe_server: StripeServer) -> None:
    charge = paid(stripe_server, 5000, currency="HUF")
    stripe_server.by_hand(charge.reference, 1000, currency="eur")
    for _ in range(2):
        fine, lines = reconcile("--apply")
        assert (fine, lines[1]) == (
            False,
            f"    not done: {stripe_server.refunds[0]['id']} is in EUR, its payment in HUF.",
        )
    assert not Refund.objects.exists()


def test_a_late_failure_that_no_message_told_of_is_named_and_taken_over(stripe_server: StripeServer) -> None:
    refund = reserved(stripe_server)
    settle_refund(refund.pk, "run")
    stripe_server.turn(stripe_server.refunds[0]["id"], "failed", failure_reason="declined")
    fine, lines = reconcile()
    assert (fine, "the book says “Refunded”, Stripe says “failed”" in lines[0]) == (False, True)
    assert reconcile("--apply")[0]
    assert (fresh(refund).status, fresh(refund).failure_reason) == ("failed", "the customer's bank declined it")
    assert outcomes(refund)[-1] == ("failed", "import")


def test_an_answer_that_was_lost_is_found_by_our_key(stripe_server: StripeServer) -> None:
    refund = reserved(stripe_server)
    stripe_server.by_hand(refund.charge.reference, 3400, metadata={"refund_key": refund.key})
    assert reconcile()[0], "it was reserved a moment ago; its run is asking"
    Refund.objects.update(asked_at=timezone.now() - timedelta(hours=1))
    fine, lines = reconcile()
    assert (fine, "the book says “Reserved”, Stripe says “succeeded”" in lines[0]) == (False, True)
    assert reconcile("--apply")[0]
    assert fresh(refund).status == "succeeded"


def test_money_that_is_out_although_the_book_says_failed_needs_a_person(stripe_server: StripeServer) -> None:
    charge = paid(stripe_server)
    refund = RefundFactory(charge=charge, status="failed", amount_minor=3400)
    stripe_server.by_hand(charge.reference, 3400, metadata={"refund_key": refund.key})
    fine, lines = reconcile("--apply")
    assert not fine
    assert "the book says “Failed”, Stripe says “succeeded”" in lines[0]
    assert "the money may be out" in lines[1]


def test_a_refund_stripe_does_not_have_is_named(stripe_server: StripeServer) -> None:
    charge = paid(stripe_server)
    lost = RefundFactory(charge=charge, status="succeeded", settled_at=timezone.now() - LONG_AGO)
    _, lines = reconcile()
    assert lines[0].startswith(f"refund {lost.reference}")
    assert "Stripe has no such refund" in lines[0]


def test_another_amount_is_named(stripe_server: StripeServer) -> None:
    charge = paid(stripe_server)
    by_hand = stripe_server.by_hand(charge.reference, 3000)
    RefundFactory(charge=charge, status="succeeded", amount_minor=3400, provider_reference=by_hand["id"])
    _, lines = reconcile()
    assert "the book says $34.00, Stripe says 3000 usd in Stripe's units" in lines[0]


def test_a_payment_stripe_does_not_know_is_named_and_the_others_are_compared(stripe_server: StripeServer) -> None:
    ChargeFactory(provider="stripe", reference="pi_unknown", captured_at=timezone.now() - LONG_AGO)
    ChargeFactory(provider="stripe", reference="book_1", captured_at=timezone.now() - LONG_AGO)
    stripe_server.by_hand(paid(stripe_server).reference, 100)
    _, lines = reconcile()
    assert "No such payment_intent: 'pi_unknown'" in "".join(lines)
    assert "its reference names no payment at Stripe" in "".join(lines)
    assert lines[-1].endswith("Differences left: 3.")


def test_a_stripe_that_does_not_answer_is_asked_once_and_named(stripe_server: StripeServer) -> None:
    first = paid(stripe_server)
    paid(stripe_server)
    stripe_server.down = True
    fine, lines = reconcile()
    assert (fine, len(stripe_server.asked)) == (False, 1)
    assert lines[0].startswith(f"payment {first.reference}")
    assert "those after it were not compared" in lines[1]


def test_old_payments_without_news_are_not_asked_for(stripe_server: StripeServer) -> None:
    paid(stripe_server, captured_at=timezone.now() - timedelta(days=10))
    assert reconcile("--days", "9")[0]
    assert stripe_server.asked == []


@pytest.mark.parametrize("days", ["0", "-1", "1.5", "many", "3651", "9" * 5000])
def test_days_that_cannot_be_counted_are_refused_with_a_sentence(days: str) -> None:
    said = f"Error: argument --days: must be a whole number from 1 to 3,650, not {days[:40]!r}"
    assert reconcile("--days", days) == (False, [said])


def test_the_number_of_queries_does_not_grow_with_the_payments(
    stripe_server: StripeServer, django_assert_num_queries: object
) -> None:
    for _ in range(3):
        settle_refund(reserved(stripe_server).pk, "run")
    per_payment, fixed = 1, 7
    with django_assert_num_queries(fixed + 3 * per_payment):  # type: ignore[operator]
        assert reconcile()[0]
