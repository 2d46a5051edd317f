"""Finished cases with their part of the book, made by the real verbs: by the rules, by a decision, after a return."""

from __future__ import annotations

import hashlib
import uuid

from django.contrib.auth.models import User
from django.core.files.base import ContentFile

from agent.decide import decide
from agent.finish_refund import settle_and_finish
from agent.outcomes import PhotoEvidence, Reserved
from agent.pay import refund_automatically
from agent.runs import claim
from intake.models import Photo, RefundRequest, Step
from intake.record_receipt import record_receipt
from intake.timeline import Entry, write_step
from payments.models import Refund
from tests.agent.work_off import work_off
from tests.factories import ApprovalFactory, LineFactory, RequestFactory

PICTURE = b"a picture, as far as the book is concerned"
SEEN = PhotoEvidence(verdict="yes", explanation="The crack is easy to see.")


def with_photo(request: RefundRequest) -> RefundRequest:
    photo = Photo(
        owner=request.customer, request=request, digest=hashlib.sha256(PICTURE).hexdigest(), width=9, height=9
    )
    photo.file.save("x.jpg", ContentFile(PICTURE))
    return request


def paid_automatically() -> RefundRequest:
    """34.00 by the rules, after one look at the picture."""
    request = with_photo(RequestFactory())
    lease = claim(request.runs.get().pk)
    assert lease is not None
    with lease.fenced():
        write_step(request.pk, look(lease.run_id))
    reserved = refund_automatically(lease, SEEN)
    assert isinstance(reserved, Reserved)
    settle_and_finish(lease, reserved.refund_id)
    return refunded(request)


def look(run_id: uuid.UUID) -> Entry:
    result = {"pictures": 1, "verdict": SEEN.verdict, "explanation": SEEN.explanation, "text_addresses_reviewer": False}
    return Entry(
        kind=Step.Kind.TOOL,
        actor=Step.Actor.AGENT,
        title="Inspected the photo",
        run_uuid=run_id,
        tool="inspect_photo",
        result=result,
    )


def before_staff(*, units: int = 1) -> RefundRequest:
    """129.00 for each unit, on an open card."""
    line = LineFactory(unit_price_minor=12_900, quantity=units)
    request = with_photo(RequestFactory(line=line, units=units, status="needs_approval"))
    request.runs.all().delete()
    rules = [{"rule": "limit", "sentence": "$129.00 is above the $50.00 limit for automatic refunds."}]
    ApprovalFactory(request=request, failed_rules=rules)
    return request


def paid_by_decision(by: User, *, amount_minor: int | None = None) -> RefundRequest:
    request = before_staff()
    card = request.approvals.get()
    decide(approval_id=card.pk, by=by, choice="approve", amount_minor=amount_minor, source="desk", note="Clear.")
    return refunded(work_off(request))


def paid_after_return(by: User) -> RefundRequest:
    """One of two units came back."""
    request = before_staff(units=2)
    card = request.approvals.get()
    decide(approval_id=card.pk, by=by, choice="approve", require_return=True, source="desk")
    assert work_off(request).status == "awaiting_return"
    record_receipt(request_uuid=request.uuid, by=by, units=1, source="page")
    return refunded(work_off(request))


def declined(by: User) -> RefundRequest:
    request = before_staff()
    decide(approval_id=request.approvals.get().pk, by=by, choice="decline", note="The window is over.", source="desk")
    return work_off(request)


def refund_of(request: RefundRequest) -> Refund:
    return Refund.objects.get(request_uuid=request.uuid)


def refunded(request: RefundRequest) -> RefundRequest:
    request.refresh_from_db()
    assert request.status == "refunded"
    return request
