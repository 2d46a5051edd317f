"""The provider does what it was asked and says so only after our time-out: one refund, whatever its late word is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from agent.models import Run
from intake.models import RefundRequest
from payments.models import Charge, Refund, RefundOutcome
from payments.settle_in_flight import settle_due_refunds
from tests.agent.work_off import told, work_off
from tests.factories import LineFactory, RequestFactory
from tests.faults.clear_review import clear_review
from tests.payments.stripe_rows import deliver, paid
from tests.stripe_book import SILENT_BUT_DONE
from tests.stripe_server import StripeServer

pytestmark = [pytest.mark.django_db, pytest.mark.faults]
LATER = timedelta(minutes=2)


def beat_asks(server: StripeServer) -> None:
    assert settle_due_refunds(timezone.now() + LATER) == 1


def webhook_comes(server: StripeServer) -> None:
    for _ in range(2):
        deliver(server.event("refund.updated", server.refunds[0]))


def in_flight(server: StripeServer) -> RefundRequest:
    """A small, clear request that Stripe has paid and told nobody of."""
    server.stumbles.append(SILENT_BUT_DONE)
    line = LineFactory()
    paid(server, line.paid_minor, order=line.order)
    request = work_off(RequestFactory(line=line))
    assert (request.status, told(request)) == ("refunding", ["on_its_way"])
    assert list(Refund.objects.values_list("status", flat=True)) == ["reserved"]
    assert len(server.refunds) == 1
    return request


@pytest.mark.parametrize("road", [beat_asks, webhook_comes])
@pytest.mark.parametrize(
    ("word", "stands", "message", "held"),
    [("succeeded", "refunded", "refunded", 3400), ("failed", "needs_approval", "refund_did_not_go_through", 0)],
)
def test_the_late_word_ends_the_request_once_by_whatever_road_it_comes(
    stripe_server: StripeServer,
    monkeypatch: pytest.MonkeyPatch,
    road: Callable[[StripeServer], None],
    word: str,
    stands: str,
    message: str,
    held: int,
) -> None:
    monkeypatch.setattr("agent.jobs.review.review", clear_review)
    request = in_flight(stripe_server)
    stripe_server.turn(stripe_server.refunds[0]["id"], word)
    road(stripe_server)
    settle_due_refunds(timezone.now() + 2 * LATER)
    request = work_off(request)
    assert (request.status, told(request)) == (stands, ["on_its_way", message])
    assert Charge.objects.get().reserved_minor == held
    assert list(Refund.objects.values_list("status", flat=True)) == [word]
    assert list(RefundOutcome.objects.values_list("status", flat=True)) == [word]
    assert (len(stripe_server.refunds), len({asked.key for asked in stripe_server.posts})) == (1, 1)
    assert not Run.objects.filter(status__in=["queued", "running"]).exists()
