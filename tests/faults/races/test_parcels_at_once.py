"""A parcel recorded in the very moment a decision is carried out is seen by the decision or by its own run."""

from __future__ import annotations

import threading
import time

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from agent.decide import decide
from agent.models import Decision
from agent.take_back import take_back
from agent.tasks import work
from agent.verify.shop import verify_shop
from intake.models import Receipt, RefundRequest, Return
from intake.record_receipt import record_receipt
from payments.models import Refund
from tests.faults.races.rows import due_run, with_return
from tests.faults.races.together import MANY, at_once, drain, paid, stands, told

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgres,
    pytest.mark.faults,
    pytest.mark.usefixtures("no_stumbling"),
]
TURNS = range(6)
LONG_ENOUGH_TO_CARRY_IT_OUT = 1.5


def decided(maya: User, choice: str) -> RefundRequest:
    """Taken back and decided; nobody has carried it out yet."""
    request = with_return()
    card = take_back(request_uuid=request.uuid, by=maya)
    decide(
        approval_id=card.pk,
        by=maya,
        choice=choice.split()[0],
        note="It is another item.",
        require_return=choice.endswith("return"),
        source="desk",
    )
    return request


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("choice", ["decline", "ask_customer", "approve with return"])
def test_a_parcel_and_a_decision_in_one_moment(staff: tuple[User, User], choice: str, turn: int) -> None:
    request, maya = decided(staff[0], choice), staff[0]
    run_id = str(due_run(request, "decision").pk)
    receive = lambda: record_receipt(request_uuid=request.uuid, by=maya, source="page")  # noqa: E731
    at_once(*[lambda: work(run_id), receive] * (MANY // 8))
    drain()
    assert Receipt.objects.count() == 1
    decision = Decision.objects.latest("created_at")
    if decision.set_aside_at is not None:
        assert (stands(request), paid(request), Return.objects.count()) == ("needs_approval", [], 1)
        assert not {"declined", "question", "return_code"} & set(told(request))
    elif choice == "approve with return":  # its code was out first: the parcel is the one it asks for
        assert (stands(request), paid(request), Return.objects.count()) == ("refunded", ["succeeded"], 2)
        assert Receipt.objects.get().parcel == Return.objects.latest("created_at")
    else:
        assert (stands(request), paid(request)) == ("needs_approval", [])
        assert "arrived" in request.approvals.get(closed_at=None).concerns[0]["text"]
    assert Refund.objects.count() == len(paid(request))
    assert verify_shop().misfits == []


@pytest.mark.parametrize("choice", ["decline", "ask_customer", "approve with return"])
def test_a_decision_waits_for_a_parcel_that_is_just_being_recorded(staff: tuple[User, User], choice: str) -> None:
    request, maya = decided(staff[0], choice), staff[0]
    run_id = str(due_run(request, "decision").pk)
    recorded = threading.Event()

    def receive() -> None:
        with transaction.atomic():
            record_receipt(request_uuid=request.uuid, by=maya, source="page")
            recorded.set()
            time.sleep(LONG_ENOUGH_TO_CARRY_IT_OUT)

    def carry_out() -> None:
        recorded.wait()
        work(run_id)

    assert at_once(receive, carry_out) == [None, None]
    assert Decision.objects.latest("created_at").set_aside_at is not None
    drain()
    assert (stands(request), paid(request), Return.objects.count()) == ("needs_approval", [], 1)
    assert not {"declined", "question", "return_code"} & set(told(request))
