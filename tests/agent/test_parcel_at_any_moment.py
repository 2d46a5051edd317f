"""A parcel recorded just before or after a decision: in no order is an item forgotten or asked for a second time."""

from __future__ import annotations

import itertools
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from agent.decide import decide
from agent.models import Decision, Run
from agent.runs import claim
from agent.sweep import take_from_the_dead
from agent.take_back import take_back
from agent.tasks import work
from agent.verify.shop import verify_shop
from intake.models import RefundRequest, Return
from intake.record_receipt import record_receipt
from intake.submit_reply import submit_reply
from payments.models import Charge, Refund
from tests.agent.agreed_return import agreed_return
from tests.agent.conftest import FakeReview
from tests.agent.work_off import open_card, told, work_off
from tests.factories import LineFactory, RefundFactory, RequestFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_review", "worded_decline", "rung")]
CAME = "1 of 1 units of the return RMA-ABCDEF arrived"
# Between these the workers may come: a return is taken back, its parcel recorded, the new card decided.
ORDERS = [
    order
    for order in itertools.permutations(["take back", "receive", "decide"])
    if order.index("take back") < order.index("decide")
]
CHOICES = ["decline", "ask_customer", "approve with return"]


@pytest.fixture
def request_(db: None) -> RefundRequest:
    line = LineFactory(unit_price_minor=12_900)
    request: RefundRequest = RequestFactory(line=line, status="awaiting_return")
    request.runs.all().delete()
    agreed_return(request, amount_minor=12_900)
    return request


def act(what: str, request: RefundRequest, maya: User, choice: str) -> None:
    if what == "take back":
        take_back(request_uuid=request.uuid, by=maya)
    elif what == "receive":
        record_receipt(request_uuid=request.uuid, by=maya, source="page")
    else:
        kind, returns = choice.split()[0], choice.endswith("return")
        card = open_card(request).pk
        decide(approval_id=card, by=maya, choice=kind, note="Why?", require_return=returns, source="desk")


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
def test_a_parcel_the_decision_could_not_know_of_brings_the_request_back(
    request_: RefundRequest, maya: User, order: tuple[str, ...], choice: str
) -> None:
    for what in order:
        act(what, request_, maya, choice)
    assert work_off(request_).status == "needs_approval"
    card = open_card(request_)
    assert any(CAME in concern["text"] for concern in card.concerns)
    assert (card.recommendation, card.amount_minor, card.require_return) == ("manual_review", 12_900, False)
    assert set(told(request_)) == {"", "taken_back"}  # the parcel itself, and nothing of the decision
    assert (Return.objects.count(), Refund.objects.count()) == (1, 0)
    newest = Decision.objects.latest("created_at")
    assert (newest.set_aside_at is None, newest.carried_out_at) == (False, None)
    Run.objects.filter(request=request_, status="queued").update(due_at=timezone.now())
    assert work_off(request_).status == "needs_approval"
    assert open_card(request_) == card
    assert verify_shop().misfits == []


@pytest.mark.parametrize("choice", CHOICES)
def test_a_parcel_staff_had_on_their_card_does_not_stop_them(request_: RefundRequest, maya: User, choice: str) -> None:
    act("take back", request_, maya, choice)
    act("receive", request_, maya, choice)
    work_off(request_)
    assert CAME in open_card(request_).concerns[0]["text"]
    act("decide", request_, maya, choice)
    ends = {"decline": "declined", "ask_customer": "needs_customer", "approve with return": "awaiting_return"}
    assert work_off(request_).status == ends[choice]


@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
def test_an_approval_that_asks_for_nothing_is_paid_whatever_came(
    request_: RefundRequest, maya: User, order: tuple[str, ...]
) -> None:
    for what in order:
        act(what, request_, maya, "approve")
    assert work_off(request_).status == "refunded"
    assert Refund.objects.get().amount_minor == 12_900


@pytest.mark.parametrize("why", ["may not decide any more", "nothing is left to pay it from", "its workers die"])
def test_a_parcel_is_on_the_card_of_an_approval_that_comes_to_nothing(
    request_: RefundRequest, maya: User, why: str
) -> None:
    for what in ("take back", "receive", "decide"):
        act(what, request_, maya, "approve")
    work(str(Run.objects.get(trigger="receipt").pk))
    if why == "may not decide any more":
        maya.user_permissions.clear()
    elif why == "nothing is left to pay it from":
        RefundFactory(charge=Charge.objects.get(), amount_minor=1, status="succeeded")
    else:
        run = Run.objects.get(trigger="decision", status="queued")
        assert claim(run.pk) is not None
        Run.objects.filter(pk=run.pk).update(tries=3, lease_until=timezone.now() - timedelta(seconds=1))
        assert take_from_the_dead() == 1
    assert work_off(request_).status == "needs_approval"
    assert [concern["text"] for concern in open_card(request_).concerns].count(f"{CAME}.") == 1
    assert not Refund.objects.filter(request_uuid=request_.uuid).exists()


def test_a_parcel_that_comes_after_the_decline_reopens_the_request(request_: RefundRequest, maya: User) -> None:
    act("take back", request_, maya, "decline")
    act("decide", request_, maya, "decline")
    assert work_off(request_).status == "declined"
    act("receive", request_, maya, "decline")
    assert work_off(request_).status == "needs_approval"
    assert CAME in open_card(request_).concerns[0]["text"]


def test_a_parcel_that_came_while_an_answer_was_about_to_be_read_is_on_the_card(
    request_: RefundRequest, maya: User, fake_review: FakeReview
) -> None:
    fake_review.hands_over("decline")
    act("take back", request_, maya, "")
    act("decide", request_, maya, "ask_customer")
    assert work_off(request_).status == "needs_customer"
    submit_reply(customer=request_.customer, request_uuid=request_.uuid, message="The left one.", source="api")
    act("receive", request_, maya, "")
    Run.objects.filter(trigger="reply").update(due_at=timezone.now())
    assert work_off(request_).status == "needs_approval"
    assert [concern["text"] for concern in open_card(request_).concerns] == [f"{CAME}."]
