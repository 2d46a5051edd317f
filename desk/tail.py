"""The last line of the timeline: what goes on at this moment, or who is waited for while nothing runs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.utils import timezone

from desk.activity import Activity
from desk.names import first_name
from intake.models import Question, RefundRequest, Return
from intake.statuses import Status
from payments.models import Refund

Kind = Literal["thinking", "queued", "person", "customer", "quiet"]


@dataclass(frozen=True)
class Tail:
    """`until`: the moment after which something happens by itself, if there is one."""

    kind: Kind
    text: str
    until: datetime | None = None
    until_label: str = ""


def tail_of(activity: Activity) -> Tail | None:
    """None while a running step already shows the work; at most one query."""
    request = activity.request
    if activity.running:
        return None if activity.step_is_running else Tail("thinking", "The agent is thinking")
    if activity.queued and activity.queued.due_at <= timezone.now():
        return Tail("queued", "Queued · starts as soon as a worker is free")
    return _at_rest(request)


def _at_rest(request: RefundRequest) -> Tail:
    if request.status == Status.NEEDS_APPROVAL:
        return Tail("person", "waiting for staff · nothing runs")
    if request.status == Status.NEEDS_CUSTOMER:
        question = Question.objects.filter(request=request, withdrawn_at__isnull=True, reply__isnull=True).last()
        text = f"waiting for {first_name(request.customer)} · nothing runs"
        return Tail("customer", text, question.reply_by if question else None, "back to staff")
    if request.status == Status.AWAITING_RETURN:
        parcel = Return.objects.filter(request=request, status=Return.Status.WAITING).last()
        text = "waiting for the parcel · nothing runs"
        return Tail("quiet", text, parcel.check_at if parcel else None, "next check")
    if request.status == Status.REFUNDING:
        return _at_the_bank(request)
    if request.status in (Status.SUBMITTED, Status.WORKING):
        return Tail("queued", "Queued · starts as soon as a worker is free")
    return Tail("quiet", f"{Status(request.status).label.lower()} · nothing left to do")


def _at_the_bank(request: RefundRequest) -> Tail:
    refund = Refund.objects.filter(request_uuid=request.uuid).order_by("attempt").last()
    if refund is not None and refund.waits_for_customer:
        text = f"waiting for {first_name(request.customer)} to answer the payment provider · nothing runs"
        return Tail("customer", text)
    return Tail("quiet", "waiting for the bank · nothing runs")
