from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from payments.models import Charge, Refund, RefundOutcome
from payments.settle_refund import record_outcome, settle_refund
from tests.factories import RefundFactory
from tests.fake_bank import FakeBank

pytestmark = pytest.mark.django_db


def at_the_bank(**changes: object) -> Refund:
    return RefundFactory(charge__provider="bank", **changes)


def news(refund: Refund, status: str, *, reason: str = "", source: str = "webhook") -> Refund:
    return record_outcome(refund.pk, status=status, reason=reason, provider_reference="bank-1", source=source)


def outcomes(refund: Refund) -> list[tuple[str, str]]:
    return list(RefundOutcome.objects.filter(refund=refund).values_list("status", "source"))


def test_the_ledger_answers_at_once_and_the_same_key_gives_the_same_refund() -> None:
    refund = RefundFactory()
    first = settle_refund(refund.pk, "run")
    assert (first.status, outcomes(refund)) == ("succeeded", [("succeeded", "run")])
    assert settle_refund(refund.pk, "run").provider_reference == first.provider_reference
    assert outcomes(refund) == [("succeeded", "run")]


def test_a_worker_that_died_after_the_book_was_written_finds_the_entry_again() -> None:
    refund = RefundFactory(provider_reference="book_before", asked_at="2026-01-01T00:00:00Z")
    assert settle_refund(refund.pk, "run").provider_reference == "book_before"


def test_a_time_out_is_no_failure_and_the_refund_is_looked_up_before_it_is_asked_again(bank: FakeBank) -> None:
    bank.answers = ["time-out, but done"]
    refund = at_the_bank()
    assert settle_refund(refund.pk, "run").status == "reserved"
    assert outcomes(refund) == []
    assert settle_refund(refund.pk, "beat").status == "succeeded"
    assert [order.key for order in bank.asked] == [refund.key]
    assert bank.looked_up == [refund.key]


def test_what_the_bank_never_heard_of_is_asked_again_with_the_same_key(bank: FakeBank) -> None:
    bank.answers = ["time-out", "succeeded"]
    refund = at_the_bank()
    settle_refund(refund.pk, "run")
    assert settle_refund(refund.pk, "beat").status == "succeeded"
    assert [order.key for order in bank.asked] == [refund.key, refund.key]
    assert len(bank.book) == 1


def test_a_pending_refund_is_only_looked_up(bank: FakeBank) -> None:
    bank.answers = ["pending"]
    refund = at_the_bank()
    assert settle_refund(refund.pk, "run").status == "pending"
    bank.book.clear()
    assert settle_refund(refund.pk, "beat").status == "pending"
    bank.write(refund.key, "succeeded")
    assert settle_refund(refund.pk, "beat").status == "succeeded"
    assert len(bank.asked) == 1
    assert outcomes(refund) == [("pending", "run"), ("succeeded", "beat")]


def test_a_provider_that_breaks_leaves_the_refund_in_flight(bank: FakeBank, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(order: object) -> None:
        raise OSError("line cut")

    monkeypatch.setattr(bank, "refund", broken)
    refund = at_the_bank()
    assert settle_refund(refund.pk, "run").status == "reserved"
    assert Charge.objects.get().reserved_minor == refund.amount_minor


def test_a_provider_nobody_knows_leaves_the_refund_in_flight() -> None:
    refund = RefundFactory(charge__provider="gone")
    assert settle_refund(refund.pk, "run").status == "reserved"


def test_a_failure_gives_the_charge_its_money_back(bank: FakeBank) -> None:
    bank.answers = ["failed: card expired"]
    refund = at_the_bank()
    failed = settle_refund(refund.pk, "run")
    assert (failed.status, failed.failure_reason) == ("failed", "card expired")
    assert Charge.objects.get().reserved_minor == 0
    settle_refund(refund.pk, "beat")
    assert len(bank.asked) == 1


def test_p03_the_same_news_three_times_is_one_outcome() -> None:
    refund = at_the_bank()
    for _ in range(3):
        assert news(refund, "succeeded").status == "succeeded"
    assert outcomes(refund) == [("succeeded", "webhook")]


def test_the_answer_and_its_webhook_are_one_fact(bank: FakeBank) -> None:
    refund = at_the_bank()
    news(refund, "succeeded")
    assert settle_refund(refund.pk, "run").status == "succeeded"
    assert bank.asked == []
    assert outcomes(refund) == [("succeeded", "webhook")]


def test_p04_an_older_answer_that_comes_late_changes_nothing() -> None:
    refund = at_the_bank()
    news(refund, "succeeded")
    assert news(refund, "pending").status == "succeeded"
    assert outcomes(refund) == [("succeeded", "webhook")]


def test_another_reason_to_wait_is_news_and_the_same_one_is_not() -> None:
    refund = at_the_bank()
    for reason in ("", "", "processing", "processing", "no money there", ""):
        refund = news(refund, "pending", reason=reason)
        assert (refund.status, refund.pending_reason) == ("pending", reason)
    told = RefundOutcome.objects.filter(refund=refund).order_by("created_at").values_list("reason", flat=True)
    assert list(told) == ["", "processing", "no money there", ""]


def test_an_outcome_that_breaks_another_rule_of_the_book_is_not_taken_for_a_doubled_refund(
    bank: FakeBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(**changes: object) -> None:
        raise IntegrityError("another constraint")

    refund = at_the_bank()
    monkeypatch.setattr(RefundOutcome.objects, "create", breaks)
    with pytest.raises(IntegrityError, match="another constraint"), transaction.atomic():
        settle_refund(refund.pk, "run")
    assert Refund.objects.get(pk=refund.pk).status == "reserved"


@pytest.mark.parametrize("end", ["succeeded", "failed"])
def test_no_reason_to_wait_comes_after_the_end(end: str) -> None:
    refund = at_the_bank()
    news(refund, "pending", reason="processing")
    news(refund, end)
    assert news(refund, "pending", reason="no money there").status == end
    assert [status for status, _ in outcomes(refund)] == ["pending", end]


def test_p05_a_failure_days_after_success_gives_the_money_back_once() -> None:
    refund = at_the_bank()
    news(refund, "succeeded")
    for _ in range(2):
        assert news(refund, "failed", reason="account closed").status == "failed"
    assert Charge.objects.get().reserved_minor == 0
    assert outcomes(refund) == [("succeeded", "webhook"), ("failed", "webhook")]


def test_a_failed_refund_never_comes_back_to_life() -> None:
    refund = at_the_bank()
    news(refund, "failed")
    assert news(refund, "succeeded").status == "failed"
    assert Charge.objects.get().reserved_minor == 0


def test_a_status_that_is_no_answer_is_refused() -> None:
    refund = at_the_bank()
    with pytest.raises(ValueError, match="is not an answer"):
        news(refund, "reserved")
    assert outcomes(refund) == []
