"""Two doors at one moment: on SQLite writers wait for each other, on PostgreSQL for the line's row."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import connection

from intake import submit_request as submitting
from intake.line_offer import LineOffer
from intake.models import Photo, RefundRequest
from intake.refusals import Refusal
from payments.models import OrderLine
from tests.factories import LineFactory, OrderFactory, RequestFactory
from tests.intake.test_submit_request import ask

Outcome = RefundRequest | Refusal


def at_one_moment(*calls: Callable[[], RefundRequest]) -> list[Outcome]:
    start = threading.Barrier(len(calls))
    outcomes: list[Outcome] = []

    def run(call: Callable[[], RefundRequest]) -> None:
        start.wait()
        try:
            outcomes.append(call())
        except Refusal as refusal:
            outcomes.append(refusal)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return outcomes


@pytest.mark.django_db(transaction=True)
def test_two_submissions_for_a_line_give_one_request_and_the_second_is_told_which(kettle: OrderLine) -> None:
    outcomes = at_one_moment(*[lambda: ask(kettle)] * 4)
    made = [outcome for outcome in outcomes if isinstance(outcome, RefundRequest)]
    told = [outcome for outcome in outcomes if isinstance(outcome, Refusal)]
    assert len(made) == RefundRequest.objects.count() == 1
    assert [refusal.code for refusal in told] == ["request_exists"] * 3
    assert {refusal.extra["id"] for refusal in told} == {str(made[0].uuid)}


@pytest.mark.django_db(transaction=True)
def test_one_photo_in_two_requests_is_taken_by_one(priya: User, new_photo: Callable[[User], Photo]) -> None:
    lines = [LineFactory(order=OrderFactory(customer=priya)) for _ in range(2)]
    photo = new_photo(priya)
    outcomes = at_one_moment(*[lambda line=line: ask(line, reason="damaged", photo_ids=[photo.pk]) for line in lines])
    assert RefundRequest.objects.count() == 1
    assert sorted(outcome.code for outcome in outcomes if isinstance(outcome, Refusal)) == ["photo_not_found"]


@pytest.mark.django_db(transaction=True)
def test_the_last_request_of_a_day_is_given_once(priya: User, settings: object) -> None:
    settings.REQUESTS_PER_DAY = 1  # type: ignore[attr-defined]
    lines = [LineFactory(order=OrderFactory(customer=priya)) for _ in range(3)]
    outcomes = at_one_moment(*[lambda line=line: ask(line) for line in lines])
    assert RefundRequest.objects.count() == 1
    assert [o.code for o in outcomes if isinstance(o, Refusal)] == ["too_many_requests"] * 2


@pytest.mark.django_db
def test_the_constraint_has_the_last_word_and_becomes_the_same_sentence(
    kettle: OrderLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even a check that saw nothing ends in `request_exists`."""
    first = RequestFactory(line=kettle)
    blind = [LineOffer(kettle, 1, None, None, True)]
    real = submitting.offer_for
    monkeypatch.setattr(submitting, "offer_for", lambda line, found: blind.pop() if blind else real(line, found))
    with pytest.raises(Refusal) as raised:
        ask(kettle)
    assert raised.value.code == "request_exists"
    assert raised.value.extra["number"] == first.number
    assert RefundRequest.objects.count() == 1
