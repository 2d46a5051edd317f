from __future__ import annotations

import uuid
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import IntegrityError
from django.utils import timezone

from payments import settle_in_flight, tasks
from payments.models import Refund, RefundOutcome
from payments.settle_in_flight import settle_due_refunds
from payments.tasks import settle_in_flight as beat_task
from tests.factories import RefundFactory
from tests.fake_bank import FakeBank

pytestmark = pytest.mark.django_db


def left_behind(minutes: int = 5, **changes: object) -> Refund:
    return RefundFactory(reserved_at=timezone.now() - timedelta(minutes=minutes), **changes)


def test_a_refund_a_run_left_behind_is_settled_by_the_beat() -> None:
    refund = left_behind()
    beat_task()
    refund.refresh_from_db()
    assert refund.status == "succeeded"
    assert RefundOutcome.objects.get().source == "beat"


def test_a_fresh_refund_is_left_to_its_run(bank: FakeBank) -> None:
    RefundFactory(charge__provider="bank")
    assert settle_due_refunds() == 0
    assert bank.asked == []


def test_a_pending_refund_is_looked_up_every_ten_minutes(bank: FakeBank) -> None:
    now = timezone.now()
    left_behind(60, charge__provider="bank", status="pending", asked_at=now - timedelta(minutes=9))
    assert settle_due_refunds() == 0
    assert settle_due_refunds(now + timedelta(minutes=1)) == 1
    assert bank.asked == []
    assert len(bank.looked_up) == 1


@pytest.mark.parametrize(("status", "minutes"), [("reserved", 30), ("pending", 180)])
def test_what_waits_for_hours_is_asked_about_less_often(bank: FakeBank, status: str, minutes: int) -> None:
    bank.answers = ["time-out"]
    now = timezone.now()
    left_behind(24 * 60, charge__provider="bank", status=status, asked_at=now)
    assert settle_due_refunds(now + timedelta(minutes=minutes - 1)) == 0
    assert settle_due_refunds(now + timedelta(minutes=minutes)) == 1


def test_an_old_refund_nobody_asked_for_yet_does_not_wait_longer(bank: FakeBank) -> None:
    refund = left_behind(24 * 60, charge__provider="bank")
    assert settle_due_refunds() == 1
    assert [order.key for order in bank.asked] == [refund.key]


def test_batches_are_bounded_and_the_longest_unasked_comes_first(
    bank: FakeBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settle_in_flight, "BATCH", 2)
    bank.answers = ["time-out"]
    keys = [left_behind(minutes, charge__provider="bank").key for minutes in (30, 20, 10)]
    assert settle_due_refunds() == 2
    assert [order.key for order in bank.asked] == keys[:2]
    assert settle_due_refunds() == 1
    assert [order.key for order in bank.asked] == keys


def test_a_bank_that_hangs_does_not_hold_the_worker_for_the_whole_batch(
    bank: FakeBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = iter([0.0, 19.0, 21.0, 0.0, 1.0])
    monkeypatch.setattr(settle_in_flight, "time", SimpleNamespace(monotonic=lambda: next(passed)))
    bank.answers = ["time-out"]
    keys = [left_behind(minutes, charge__provider="bank").key for minutes in (30, 20)]
    assert settle_due_refunds() == 1
    assert settle_due_refunds() == 1
    assert [order.key for order in bank.asked] == keys


def test_a_second_look_leaves_the_first_alone(bank: FakeBank, monkeypatch: pytest.MonkeyPatch) -> None:
    left_behind(charge__provider="bank")
    with tasks._settling:
        beat_task()
    assert bank.asked == []
    beat_task()
    assert len(bank.asked) == 1


def test_settled_refunds_are_not_asked_for_again(bank: FakeBank) -> None:
    left_behind(charge__provider="bank", status="succeeded")
    left_behind(charge__provider="bank", status="failed")
    assert settle_due_refunds() == 0
    assert bank.looked_up == []


def test_a_refund_that_cannot_be_settled_does_not_keep_the_others_waiting(
    bank: FakeBank, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken, fine = left_behind(9, charge__provider="bank"), left_behind(charge__provider="bank")
    settle = settle_in_flight.settle_refund

    def breaks_once(refund_id: uuid.UUID, source: str) -> Refund:
        if refund_id == broken.pk:
            raise IntegrityError("a rule of the book")
        return settle(refund_id, source)

    monkeypatch.setattr(settle_in_flight, "settle_refund", breaks_once)
    assert settle_due_refunds() == 2
    assert [Refund.objects.get(pk=each.pk).status for each in (broken, fine)] == ["reserved", "succeeded"]
    assert f"refund {broken.pk} could not be settled" in caplog.text
