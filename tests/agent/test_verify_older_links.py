"""A chain whose links were written before they held rows fits as it did, and holds what comes after."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from agent.seal_timelines import seal_timeline
from agent.verify.shop import verify_shop
from intake.models import RefundRequest, Step
from intake.timeline import Entry, write_step
from tests.agent.book_cases import declined, paid_automatically, paid_by_decision
from tests.agent.falsify import LONG_AGO, named, rewritten, sql
from tests.agent.talked_cases import asked

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("own_photo_folder", "fake_review", "worded_decline", "rung"),
]


def as_before(request: RefundRequest) -> None:
    """The chain as it was written before the links held rows, running steps, policy texts and where a photo belongs."""

    def without(facts: dict[str, Any]) -> None:
        del facts["rows"], facts["timeline"]["running"]
        for photo in facts.get("photos", ()):
            del photo["sent_with"]
        if "refund" in facts and "policy" in facts:
            del facts["policy"]["wording_sha256"]
        elif "policy" in facts:
            del facts["policy"]

    for sequence in request.chain.order_by("sequence").values_list("sequence", flat=True):
        rewritten(request.chain.get(sequence=sequence), without)


OLDER: list[Callable[[User], RefundRequest]] = [
    lambda maya: paid_automatically(),
    paid_by_decision,
    declined,
    asked,
]


@pytest.mark.parametrize("case", OLDER)
def test_a_book_from_before_fits_as_it_did(maya: User, case: Callable[[User], RefundRequest]) -> None:
    request = case(maya)
    as_before(request)
    assert verify_shop().misfits == []


def test_a_case_that_began_before_goes_on_and_what_was_sealed_elsewhere_is_compared(talked: RefundRequest) -> None:
    as_before(talked)
    assert verify_shop().misfits == []
    write_step(talked.pk, Entry(kind=Step.Kind.MESSAGE, actor=Step.Actor.SYSTEM, title="News"))
    assert seal_timeline(talked.pk)
    assert verify_shop().misfits == []
    sql("UPDATE intake_question SET text = %s", "Why?")
    sentence = "The question of link 1 is not the one that was decided: its text is another one than the decision says."
    assert named(talked) == sentence
    sql("UPDATE intake_question SET text = %s, reply_by = %s", "Which one?", LONG_AGO)
    assert named(talked).startswith("A question to the customer of link 6 is not as it was sealed: its last day")
