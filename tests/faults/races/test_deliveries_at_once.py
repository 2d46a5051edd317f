"""Each trigger's run is delivered thirty-two times at once: its work is done once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from agent.decide import decide
from agent.models import Run
from intake.models import RefundRequest
from intake.record_receipt import record_receipt
from intake.submit_reply import submit_reply
from payments.models import Charge
from payments.settle_refund import record_outcome
from tests.factories import RefundFactory, RequestFactory
from tests.faults.races.rows import due_run, open_card, reviewed, with_question, with_return
from tests.faults.races.together import drain, paid, stands, told, work_by_many

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgres,
    pytest.mark.faults,
    pytest.mark.usefixtures("no_stumbling"),
]


def decided(maya: User, choice: str, **more: object) -> RefundRequest:
    card = open_card()
    decide(approval_id=card.pk, by=maya, choice=choice, source="desk", **more)  # type: ignore[arg-type]
    return card.request


def replied(maya: User) -> RefundRequest:
    request = with_question(maya)
    submit_reply(customer=request.customer, request_uuid=request.uuid, message="The small one.", source="api")
    return request


def received(maya: User) -> RefundRequest:
    request = with_return()
    record_receipt(request_uuid=request.uuid, by=maya, source="page")
    return request


def with_news(status: str) -> RefundRequest:
    request = reviewed(RequestFactory(status="refunding"))
    refund = RefundFactory(charge=Charge.objects.get(), request_uuid=request.uuid, amount_minor=3400)
    record_outcome(refund.pk, status=status, reason="expired", provider_reference="bank-1", source="webhook")
    return request


CASES: dict[str, tuple[Callable[[User], RefundRequest], str, list[str], list[str]]] = {
    "request": (lambda maya: RequestFactory(), "refunded", ["succeeded"], ["refunded"]),
    "decision: approve": (lambda maya: decided(maya, "approve"), "refunded", ["succeeded"], ["refunded"]),
    "decision: return": (
        lambda maya: decided(maya, "approve", require_return=True),
        "awaiting_return",
        [],
        ["return_code"],
    ),
    "decision: ask": (
        lambda maya: decided(maya, "ask_customer", note="Which?"),
        "needs_customer",
        [],
        ["question"],
    ),
    "decision: decline": (lambda maya: decided(maya, "decline", note="No."), "declined", [], ["declined"]),
    "reply": (replied, "needs_approval", [], ["person_is_looking"]),
    "late": (lambda maya: with_question(maya, days_left=-1), "needs_approval", [], ["no_answer_yet"]),
    "check: 1": (lambda maya: with_return(days_left=-1), "awaiting_return", [], ["return_reminder"]),
    "check: 2": (lambda maya: with_return(check=2, days_left=-1), "closed", [], ["closed"]),
    "receipt": (received, "refunded", ["succeeded"], ["refunded"]),
    "outcome: through": (lambda maya: with_news("succeeded"), "refunded", ["succeeded"], ["refunded"]),
    "outcome: refused": (
        lambda maya: with_news("failed"),
        "needs_approval",
        ["failed"],
        ["refund_did_not_go_through"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_run_delivered_many_times_at_once_works_once(staff: tuple[User, User], case: str) -> None:
    make, stands_at, refunds, messages = CASES[case]
    request = make(staff[0])
    run = due_run(request, case.partition(":")[0])
    work_by_many(run.pk)
    drain()
    run.refresh_from_db()
    assert (run.status, run.tries) == ("done", 1)
    assert (stands(request), paid(request), told(request)) == (stands_at, refunds, messages)
    assert not Run.objects.filter(status="running").exists()
