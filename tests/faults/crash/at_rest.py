"""What is wrong with a case that should have come to rest: empty when nobody has to look, in our book or the bank's."""

from __future__ import annotations

import io

from django.core.management import CommandError, call_command
from django.db.models import Sum

from agent.models import Approval, Decision, Run
from intake.models import RefundRequest, Step
from payments.models import LIVE_REFUND_STATUSES, Charge, Refund
from payments.providers.base import RefundOrder
from payments.providers.ledger import Ledger
from tests.faults.crash.bank import NAME, Bank
from tests.faults.crash.stories import Case, Story, due_runs
from tests.faults.told_once import refunds_not_told, told_too_often

ON_ITS_WAY = ("reserved", "pending")


def told(case: Case) -> list[str]:
    steps = Step.objects.filter(request=case.request, for_customer=True)
    return [str(title) for title in steps.order_by("position").values_list("message_key", flat=True)]


def what_is_wrong(story: Story, case: Case) -> list[str]:
    """Everything about the request at rest that is not as the story has it."""
    request = case.request
    request.refresh_from_db()
    paid = tuple(Refund.objects.filter(request_uuid=request.uuid).values_list("status", flat=True))
    wrong = [] if request.status == story.ends else [f"it stands in {request.status}"]
    if paid != story.paid:
        wrong.append(f"its refunds are {paid}")
    return wrong + what_would_need_an_engineer(case)


def what_would_need_an_engineer(case: Case) -> list[str]:
    """Whatever the end: nothing hangs, the money adds up, the books are equal and can be computed again."""
    request = case.request
    request.refresh_from_db()
    return [
        *does_not_rest(request),
        *_left_undone(request),
        *told_too_often(),
        *refunds_not_told(),
        *_wrong_sums(),
        *_books_differ(case.cast.bank),
        *_complaints_of("verify"),
        *_complaints_of("reconcile"),
    ]


def does_not_rest(request: RefundRequest) -> list[str]:
    wrong = []
    live = Refund.objects.filter(request_uuid=request.uuid, status__in=LIVE_REFUND_STATUSES)
    if live.count() > 1:
        wrong.append("it has two live refunds")
    if request.status in ("submitted", "working"):
        wrong.append(f"it hangs in {request.status}")
    if request.status == "refunding" and not live.filter(status__in=ON_ITS_WAY).exists():
        wrong.append("it waits for a refund that is not on its way")
    cards = Approval.objects.filter(request=request, closed_at=None).count()
    if cards != (request.status == "needs_approval"):
        wrong.append(f"it has {cards} open cards")
    return wrong


def _left_undone(request: RefundRequest) -> list[str]:
    wrong = []
    if Step.objects.filter(state="running").exists():
        wrong.append("a step is left running")
    if Run.objects.filter(status="running").exists() or due_runs().exists():
        wrong.append("a run is left")
    if Decision.objects.filter(carried_out_at=None, set_aside_at=None).exists():
        wrong.append("a decision is neither carried out nor set aside")
    return wrong


def _wrong_sums() -> list[str]:
    wrong = []
    for charge in Charge.objects.all():
        sums = charge.refunds.filter(status__in=LIVE_REFUND_STATUSES).aggregate(total=Sum("amount_minor"))
        if charge.reserved_minor != (sums["total"] or 0):
            wrong.append(f"the charge holds {charge.reserved_minor} and its refunds come to {sums['total']}")
    return wrong


def _books_differ(bank: Bank) -> list[str]:
    """Refund by refund: key, amount and status; also what the other side has and ours has not."""
    refunds = list(Refund.objects.select_related("charge"))
    at_bank = {refund.key: refund for refund in refunds if refund.charge.provider == NAME}
    ours = {key: (refund.amount_minor, refund.currency, refund.status) for key, refund in at_bank.items()}
    theirs = {key: (page.amount_minor, page.currency, page.status) for key, page in bank.book().items()}
    wrong = [] if ours == theirs else [f"our book has {ours}, the bank's {theirs}"]
    for refund in refunds:
        if refund.charge.provider == "ledger":
            entry = Ledger().look_up(RefundOrder(refund.key, refund.charge.reference, refund.amount_minor, "USD"))
            if refund.status != (entry.status if entry else "reserved"):
                wrong.append(f"{refund.key} is {refund.status}, and the shop's own book says {entry}")
    return wrong


def _complaints_of(command: str) -> list[str]:
    out = io.StringIO()
    try:
        call_command(command, stdout=out)
    except CommandError as error:
        return [f"{command}: {out.getvalue().strip()} {error}"]
    return []
