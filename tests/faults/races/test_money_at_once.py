"""Money that many want at the same moment goes out as often as it is there, and never twice for one request."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from agent.decide import decide
from agent.models import Run
from payments.models import Charge, Refund, RefundOutcome
from payments.providers.base import ProviderAnswer, RefundOrder
from payments.providers.choose import PROVIDERS
from payments.settle_refund import record_outcome
from tests.factories import ApprovalFactory, ChargeFactory, CustomerFactory, LineFactory, OrderFactory, RequestFactory
from tests.faults.races.rows import due_run, reviewed
from tests.faults.races.together import MANY, at_once, drain, paid, stands, told, work_by_many

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgres,
    pytest.mark.faults,
    pytest.mark.usefixtures("no_stumbling"),
]


def test_of_many_small_requests_of_a_customer_one_is_refunded_automatically(staff: tuple[User, User]) -> None:
    customer = CustomerFactory()
    requests = [RequestFactory(line=LineFactory(order=OrderFactory(customer=customer))) for _ in range(MANY)]
    work_by_many(*[due_run(request, "request").pk for request in requests])
    drain()
    assert sorted(stands(request) for request in requests) == ["needs_approval"] * (MANY - 1) + ["refunded"]
    assert Refund.objects.filter(automatic=True).count() == Refund.objects.count() == 1
    call_command("verify", verbosity=0)


def test_claims_whose_sum_passes_what_is_left_are_paid_as_far_as_it_goes(staff: tuple[User, User]) -> None:
    order = OrderFactory()
    charge = ChargeFactory(order=order, captured_minor=4000)
    cards = [ApprovalFactory(request__line=LineFactory(order=order, unit_price_minor=1500)) for _ in range(MANY)]
    for card in cards:
        reviewed(card.request)
        Run.objects.filter(request=card.request).update(status="done")
        type(card.request).objects.filter(pk=card.request_id).update(status="needs_approval")
        decide(approval_id=card.pk, by=staff[0], choice="approve", source="desk")
    work_by_many(*[due_run(card.request, "decision").pk for card in cards])
    drain()
    assert sorted(stands(card.request) for card in cards) == ["needs_approval"] * (MANY - 2) + ["refunded"] * 2
    charge.refresh_from_db()
    assert charge.reserved_minor == sum(Refund.objects.values_list("amount_minor", flat=True)) == 3000
    call_command("verify", verbosity=0)


@dataclass
class EagerBank:
    """Its messages arrive before its answer: thirty-two at once, each in a connection of its own."""

    status: str
    asked: int = 0

    def refund(self, order: RefundOrder) -> ProviderAnswer:
        self.asked += 1
        refund = Refund.objects.get(key=order.key)
        news = at_once(
            *[
                lambda: record_outcome(
                    refund.pk, status=self.status, reason="expired", provider_reference="bank-1", source="webhook"
                )
            ]
            * MANY
        )
        assert [each for each in news if isinstance(each, Exception)] == []
        return ProviderAnswer(status=self.status, provider_reference="bank-1", reason="expired")  # type: ignore[arg-type]

    def look_up(self, order: RefundOrder) -> ProviderAnswer | None:
        return None


@pytest.mark.parametrize(
    ("status", "stands_at", "message"),
    [("succeeded", "refunded", "refunded"), ("failed", "needs_approval", "refund_did_not_go_through")],
)
def test_news_that_arrives_before_our_own_answer_is_saved_is_the_same_fact(
    staff: tuple[User, User], monkeypatch: pytest.MonkeyPatch, status: str, stands_at: str, message: str
) -> None:
    bank = EagerBank(status)
    monkeypatch.setitem(PROVIDERS, "bank", bank)
    order = OrderFactory()
    ChargeFactory(order=order, provider="bank")
    request = RequestFactory(line=LineFactory(order=order))
    work_by_many(due_run(request, "request").pk)
    drain()
    assert (bank.asked, RefundOutcome.objects.count()) == (1, 1)
    assert Run.objects.filter(trigger="outcome").count() == 1
    assert (stands(request), paid(request), told(request)) == (stands_at, [status], [message])
    assert Charge.objects.get(order=order).reserved_minor == (3400 if status == "succeeded" else 0)
    call_command("verify", verbosity=0)
