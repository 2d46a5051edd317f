"""Cases in which staff and customer spoke with each other, made by the real verbs."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.utils import timezone

from agent.decide import decide
from agent.seal_timelines import seal_timeline
from agent.verify.shop import verify_shop
from intake.models import Photo, RefundRequest, Step
from intake.record_receipt import record_receipt
from intake.submit_reply import submit_reply
from intake.timeline import Entry, write_step
from tests.agent.book_cases import before_staff, with_photo
from tests.agent.falsify import named
from tests.agent.work_off import open_card, work_off
from tests.factories import ApprovalFactory

SAID = "The left one, see the photo."


def talked_over(by: User) -> RefundRequest:
    """A card nobody decided, a question and its answer with a photo, a return, what came of it, money.

    Links: 1 the question, 2 the approval, 3 the reserve, 4 the answer of the bank, 5 the seal of its last words.
    """
    request = before_staff(units=2)
    began = Entry(
        kind=Step.Kind.TRIGGER, actor=Step.Actor.CUSTOMER, title="You asked for a refund", detail=request.details
    )
    write_step(request.pk, began)
    ApprovalFactory(request=request, closed_at=timezone.now(), reasoning="Nobody decided this one.")
    decide(approval_id=open_card(request).pk, by=by, choice="ask_customer", note="Which one?", source="desk")
    assert work_off(request).status == "needs_customer"
    answer_photo = with_photo(request).photos.order_by("created_at").last()
    assert answer_photo is not None
    Photo.objects.filter(pk=answer_photo.pk).update(request=None)
    submit_reply(
        customer=request.customer,
        request_uuid=request.uuid,
        message=SAID,
        photo_ids=[answer_photo.pk],
        source="page",
    )
    assert work_off(request).status == "needs_approval"
    decide(approval_id=open_card(request).pk, by=by, choice="approve", require_return=True, source="desk")
    assert work_off(request).status == "awaiting_return"
    record_receipt(request_uuid=request.uuid, by=by, units=1, source="page")
    assert work_off(request).status == "refunded"
    assert seal_timeline(request.pk)
    kinds = list(request.chain.order_by("sequence").values_list("kind", flat=True))
    assert kinds == ["decision", "decision", "reserve", "outcome", "timeline"]
    assert verify_shop().misfits == []
    return request


def asked(by: User) -> RefundRequest:
    """It waits for the answer to a question."""
    request = before_staff()
    decide(approval_id=open_card(request).pk, by=by, choice="ask_customer", note="Which one?", source="desk")
    assert work_off(request).status == "needs_customer"
    assert named(request) == ""
    return request
