"""A customer answers the question staff asked. The one way in, whatever the door."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from django.contrib.auth.models import User
from django.db import transaction

from intake.case_access import read_uuid, request_not_found, requests_of
from intake.customer_text import read_text
from intake.lifecycle import try_move
from intake.models import Question, Reply, Step
from intake.photos import lock_photos, read_photo_ids
from intake.refusals import Refusal
from intake.statuses import Status
from intake.timeline import Entry, write_step

MESSAGE_LENGTH = 2000
WRITE_AN_ANSWER = "Write your answer first."


def submit_reply(
    *,
    customer: User,
    request_uuid: uuid.UUID | str,
    message: str,
    photo_ids: Iterable[uuid.UUID | str] = (),
    source: str,
) -> Reply:
    """Saves the answer to the open question, locks its photos and moves the request to `working`, all or nothing.

    Raises Refusal: request_not_found, invalid_input, photo_not_found, not_waiting_for_reply (no question is open, or
    another answer was first); then nothing is written.
    """
    parsed = read_uuid(request_uuid)
    if parsed is None or not requests_of(customer).filter(uuid=parsed).exists():
        raise request_not_found()
    text = read_text(message, limit=MESSAGE_LENGTH, field="message", when_empty=WRITE_AN_ANSWER)
    wanted_photos = read_photo_ids(photo_ids)
    with transaction.atomic():
        return _submit(customer, parsed, text, wanted_photos, source)


def open_question(request_id: int) -> Question | None:
    """The newest question without an answer that was not withdrawn."""
    waiting = Question.objects.filter(request_id=request_id, reply__isnull=True, withdrawn_at__isnull=True)
    return waiting.order_by("-created_at", "-id").first()


def _submit(customer: User, request_uuid: uuid.UUID, text: str, photo_ids: list[uuid.UUID], source: str) -> Reply:
    request = requests_of(customer).select_for_update(no_key=True).get(uuid=request_uuid)
    question = open_question(request.pk)
    if question is None or not try_move(request.pk, Status.WORKING, sources={Status.NEEDS_CUSTOMER}):
        raise _not_waiting()
    reply = Reply.objects.create(question=question, message=text, source=source)
    lock_photos(customer, photo_ids, to=reply)
    answered = Entry(
        kind=Step.Kind.MESSAGE,
        actor=Step.Actor.CUSTOMER,
        actor_user=customer,
        title="You answered",
        detail=text,
        for_customer=True,
    )
    write_step(request.pk, answered)
    return reply


def _not_waiting() -> Refusal:
    sentence = "This request waits for no answer from you now. Reload its page to see where it stands."
    return Refusal("not_waiting_for_reply", sentence)
