"""What customers were told against what happened: each thing once, by whichever run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet

from agent.models import Approval, Decision
from intake.models import Question, RefundRequest, Return, Step
from payments.models import Refund, RefundOutcome


def told_too_often() -> list[str]:
    """Messages beyond their causes, at any moment: what happened may not be told yet, and is never told twice."""
    messages = Step.objects.filter(for_customer=True).exclude(message_key="")
    told = Counter(messages.values_list("message_key", "request_id"))
    wrong = []
    for key in sorted({key for key, _ in told} & set(CAUSES)):
        causes = CAUSES[key]()
        for (message, request_id), count in told.items():
            if message == key and count > causes[request_id]:
                wrong.append(f"request {request_id} was told {key} {count} times for {causes[request_id]}")
    through = Counter(RefundOutcome.objects.filter(status="succeeded").values_list("refund__reference", flat=True))
    for reference, count in _told_refunded().items():
        if count > through[reference]:
            wrong.append(f"{reference} was told as refunded {count} times and went through {through[reference]} times")
    return wrong


def refunds_not_told() -> list[str]:
    """At rest, each refund that is through has been told, once."""
    told = _told_refunded()
    succeeded = Refund.objects.filter(status="succeeded", request_uuid__isnull=False)
    references = succeeded.values_list("reference", flat=True)
    return [f"{one} was told as refunded {told[one]} times" for one in references if told[one] != 1]


def _told_refunded() -> Counter[str]:
    """How often each refund was told as through, by the reference in the message."""
    details = list(Step.objects.filter(message_key="refunded").values_list("detail", flat=True))
    references = Refund.objects.filter(request_uuid__isnull=False).values_list("reference", flat=True)
    return Counter({one: sum(f"Reference {one}." in detail for detail in details) for one in references})


def _by_request(refunds: QuerySet[Refund]) -> Counter[int]:
    ids = dict(RefundRequest.objects.values_list("uuid", "pk"))
    return Counter(ids[uuid] for uuid in refunds.values_list("request_uuid", flat=True) if uuid in ids)


def _of(rows: QuerySet[Any], request: str = "request_id") -> Counter[int]:
    return Counter(rows.values_list(request, flat=True))


# For each message, how often there was reason for it in each request.
CAUSES: dict[str, Callable[[], Counter[int]]] = {
    "refunded": lambda: _by_request(Refund.objects.filter(outcomes__status="succeeded")),
    "on_its_way": lambda: _by_request(Refund.objects.all()),
    "refund_needs_you": lambda: _by_request(Refund.objects.all()),
    "refund_did_not_go_through": lambda: _by_request(Refund.objects.filter(status="failed")),
    "question": lambda: _of(Question.objects.all()),
    "no_answer_yet": lambda: _of(Question.objects.filter(reply=None)),
    "return_code": lambda: _of(Return.objects.all()),
    "return_reminder": lambda: _of(Return.objects.filter(reminded_at__isnull=False)),
    "closed": lambda: _of(Return.objects.filter(reminded_at__isnull=False)),
    "declined": lambda: _of(
        Decision.objects.filter(choice="decline", carried_out_at__isnull=False), "approval__request_id"
    ),
    "person_is_looking": lambda: _of(Approval.objects.all()),
}
