"""The one table of moves, and the compare-and-set that keeps it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intake.lifecycle import MoveRefused, move, try_move
from intake.models import RefundRequest
from intake.statuses import ENDS, MOVES, Status, sources_of
from tests.factories import RequestFactory

PATH = [
    (Status.SUBMITTED, Status.WORKING),
    (Status.WORKING, Status.REFUNDING),
    (Status.REFUNDING, Status.REFUNDED),
    (Status.WORKING, Status.NEEDS_APPROVAL),
    (Status.NEEDS_APPROVAL, Status.WORKING),
    (Status.WORKING, Status.NEEDS_CUSTOMER),
    (Status.NEEDS_CUSTOMER, Status.WORKING),
    (Status.WORKING, Status.AWAITING_RETURN),
    (Status.AWAITING_RETURN, Status.WORKING),
    (Status.WORKING, Status.CLOSED),
    (Status.WORKING, Status.DECLINED),
]


@pytest.mark.parametrize(("source", "to"), PATH)
def test_every_move_of_the_design_is_in_the_table(source: Status, to: Status) -> None:
    assert to in MOVES[source]


def test_from_everywhere_but_staff_a_request_can_come_to_staff() -> None:
    assert sources_of(Status.NEEDS_APPROVAL) == frozenset(Status) - {Status.NEEDS_APPROVAL}


def test_money_is_only_told_after_it_was_on_its_way() -> None:
    assert sources_of(Status.REFUNDED) == {Status.REFUNDING}
    assert sources_of(Status.REFUNDING) == {Status.WORKING}


def test_an_end_is_left_for_staff_only() -> None:
    assert {MOVES[end] for end in ENDS} == {frozenset({Status.NEEDS_APPROVAL})}
    assert set(MOVES) == set(Status)


@pytest.mark.django_db
@pytest.mark.parametrize("source", list(Status))
@pytest.mark.parametrize("to", list(Status))
def test_a_move_happens_exactly_when_the_table_allows_it(source: Status, to: Status) -> None:
    request = RequestFactory(status=source)
    allowed = to in MOVES[source]
    assert try_move(request.pk, to) is allowed
    request.refresh_from_db()
    assert request.status == (to if allowed else source)
    assert request.reopened is (allowed and source in ENDS)


@pytest.mark.django_db
def test_a_refused_move_changes_nothing_and_says_so() -> None:
    request = RequestFactory(status=Status.DECLINED)
    before = RefundRequest.objects.values().get()
    with pytest.raises(MoveRefused):
        move(request.pk, Status.WORKING)
    assert RefundRequest.objects.values().get() == before


@pytest.mark.django_db
def test_a_narrowed_move_only_leaves_the_given_statuses() -> None:
    request = RequestFactory(status=Status.NEEDS_CUSTOMER)
    assert not try_move(request.pk, Status.WORKING, sources=[Status.NEEDS_APPROVAL])
    assert not try_move(request.pk, Status.WORKING, sources=[Status.REFUNDED])
    assert try_move(request.pk, Status.WORKING, sources=[Status.NEEDS_CUSTOMER])


@pytest.mark.django_db
def test_a_request_that_came_back_from_an_end_stays_marked() -> None:
    request = RequestFactory(status=Status.CLOSED)
    move(request.pk, Status.NEEDS_APPROVAL)
    move(request.pk, Status.WORKING)
    request.refresh_from_db()
    assert request.reopened is True


@given(wishes=st.lists(st.sampled_from(list(Status)), max_size=12))
@settings(max_examples=40, deadline=None)
@pytest.mark.django_db(transaction=True)
def test_whatever_is_tried_only_allowed_steps_are_taken(wishes: list[Status]) -> None:
    request, stands, reopened = RequestFactory(), Status.SUBMITTED, False
    for wish in wishes:
        if try_move(request.pk, wish):
            assert wish in MOVES[stands]
            reopened = reopened or stands in ENDS
            stands = wish
        else:
            assert wish not in MOVES[stands]
    request.refresh_from_db()
    assert (request.status, request.reopened) == (stands, reopened)
