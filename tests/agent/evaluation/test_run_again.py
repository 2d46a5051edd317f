"""A case played again: by a lead, a few at a time, in a world of its own that can move no money of this one."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from agent.decide import decide
from agent.evaluation import child, run_again, template
from agent.evaluation.played import Played
from agent.evaluation.run_again import (
    LOST,
    LOST_AFTER,
    MOST_A_DAY,
    MOST_AT_ONCE,
    UNHEARD,
    UNHEARD_AFTER,
    ask_again,
    end_lost,
    play_again,
    sweep_again,
)
from agent.evaluation.signs_of_life import SILENT_AFTER
from agent.models import Evaluation, Trial
from intake.models import RefundRequest
from payments.models import Charge, Refund
from tests.agent.evaluation.copies import (
    LEAD,
    PLAYED,
    closed_request,
    kettle_before_staff,
    plays,
    queued,
    refused,
    rows_of_the_shop,
    state_of,
)
from tests.agent.test_whole_cases import asks
from tests.agent.work_off import open_card, work_off
from tests.behind_the_book import behind_the_book
from tests.factories import CustomerFactory, RequestFactory, StaffFactory
from tests.fake_bank import FakeBank

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(180)]


@pytest.fixture
def never_played(monkeypatch: pytest.MonkeyPatch) -> None:
    def play(*args: Any, **kwargs: Any) -> Played:
        raise AssertionError("it was played")

    monkeypatch.setattr(run_again, "play_case", play)


def test_a_lead_asks_and_a_worker_is_rung_for_after_the_commit(
    lead: User, bells: list[uuid.UUID], django_capture_on_commit_callbacks: Any
) -> None:
    request = closed_request()
    with django_capture_on_commit_callbacks(execute=True):
        evaluation = ask_again(request=request, by=lead, options={"policy": {"refund_window_days": 60}})
        assert bells == []
    assert bells == [evaluation.pk]
    assert (evaluation.kind, evaluation.status, evaluation.request) == ("again", "queued", request)
    assert evaluation.options == {"policy": {"refund_window_days": 60}}
    assert (evaluation.scenario or {})["request"]["details"] == request.details


def test_who_may_only_decide_may_not_play_again(bells: list[uuid.UUID]) -> None:
    assert refused(closed_request(), StaffFactory())[0] == "forbidden"


def test_an_unknown_provider_or_rule_is_refused_with_what_there_is(lead: User, bells: list[uuid.UUID]) -> None:
    code, sentence = refused(closed_request(), lead, provider="nobody")
    assert (code, "There is no provider nobody here" in sentence) == ("invalid_input", True)
    assert "no_such_rule" in refused(closed_request(), lead, policy={"no_such_rule": 1})[1]


def test_a_request_in_work_is_left_alone(lead: User, bells: list[uuid.UUID]) -> None:
    code, sentence = refused(RequestFactory(status="working"), lead)
    assert (code, sentence) == (
        "not_waiting",
        "The agent is at work on this request. Play it again when it has come to rest.",
    )


def test_twenty_a_day_and_the_next_waits_for_tomorrow(lead: User, bells: list[uuid.UUID]) -> None:
    copies = queued(lead, MOST_A_DAY, status="done")
    assert refused(closed_request(), lead)[0] == "too_many_requests"
    ask_again(request=closed_request(), by=StaffFactory(permissions=LEAD), options={})
    Evaluation.objects.filter(pk=copies[0].pk).update(created_at=timezone.now() - timedelta(days=1, minutes=1))
    ask_again(request=closed_request(), by=lead, options={})


def test_a_copy_with_other_rules_pays_in_its_own_world_and_nothing_moves_in_this_one(
    lead: User, bells: list[uuid.UUID], bank: FakeBank, own_photo_folder: None
) -> None:
    request = kettle_before_staff()
    behind_the_book(Charge).filter(order=request.line.order).update(provider="bank")
    evaluation = ask_again(request=request, by=lead, options={"policy": {"auto_refund_limit_minor": 20_000}})
    before = rows_of_the_shop()

    play_again(evaluation.pk)

    assert rows_of_the_shop() == before
    assert (bank.asked, bank.looked_up, Refund.objects.count()) == ([], [], 0)
    assert state_of(evaluation) == ("done", "")
    trial = Trial.objects.get(evaluation=evaluation)
    assert (trial.wanted["status"], trial.wanted["paid_minor"]) == ("needs_approval", 0)
    assert (trial.got["status"], trial.got["paid_minor"], trial.got["automatic"]) == ("refunded", 12_900, True)
    assert "inspect_photo" in [step["tool"] for step in trial.timeline]


def test_a_copy_of_an_open_request_does_what_was_done_so_far(
    lead: User, bells: list[uuid.UUID], own_photo_folder: None
) -> None:
    request = work_off(asks(CustomerFactory(), "GRD-C40", "damaged", "grinder-hopper-cracked"))
    decide(approval_id=open_card(request).pk, by=StaffFactory(), choice="approve", source="desk")
    evaluation = ask_again(request=work_off(request), by=lead, options={})
    play_again(evaluation.pk)
    trial = Trial.objects.get(evaluation=evaluation)
    assert (trial.differences, trial.got["status"]) == ([], "awaiting_return")


def test_what_fails_in_the_process_is_said_and_can_be_asked_for_again(
    lead: User, bells: list[uuid.UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    plays(monkeypatch, lambda: PLAYED.model_copy(update={"not_played": "The scratch process ended by itself."}))
    (evaluation,) = queued(lead)
    play_again(evaluation.pk)
    assert state_of(evaluation) == ("failed", "The scratch process ended by itself.")
    assert not Trial.objects.exists()
    again = RefundRequest.objects.get(played_again=evaluation)
    assert ask_again(request=again, by=lead, options=evaluation.options).status == "queued"


def test_a_mistake_of_ours_leaves_no_copy_running(
    lead: User, bells: list[uuid.UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    def mistaken() -> Played:
        raise KeyError("missing")

    plays(monkeypatch, mistaken)
    (evaluation,) = queued(lead)
    play_again(evaluation.pk)
    assert state_of(evaluation) == (
        "failed",
        "Something went wrong in the program, so the copy was not played. The log says what.",
    )


def test_a_copy_is_played_once(lead: User, bells: list[uuid.UUID], never_played: None) -> None:
    for evaluation in queued(lead, 3, status="done"):
        play_again(evaluation.pk)
    play_again(uuid.uuid4())


def test_a_third_copy_stays_queued_while_two_are_played(lead: User, bells: list[uuid.UUID], never_played: None) -> None:
    queued(lead, MOST_AT_ONCE, status="running", started_at=timezone.now())
    (third,) = queued(lead)
    play_again(third.pk)
    assert state_of(third) == ("queued", "")


def test_who_has_ended_rings_for_the_next(lead: User, bells: list[uuid.UUID], monkeypatch: pytest.MonkeyPatch) -> None:
    plays(monkeypatch, lambda: PLAYED)
    first, second = queued(lead, 2)
    play_again(first.pk)
    assert bells == [second.pk]


def test_a_copy_whose_worker_died_is_given_up_and_its_late_news_is_dropped(
    lead: User, bells: list[uuid.UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    def given_up_meanwhile() -> Played:
        assert end_lost(timezone.now() + SILENT_AFTER - timedelta(seconds=5)) == 0
        assert end_lost(timezone.now() + SILENT_AFTER + timedelta(seconds=5)) == 1
        return PLAYED

    plays(monkeypatch, given_up_meanwhile)
    (evaluation,) = queued(lead)
    play_again(evaluation.pk)
    assert state_of(evaluation) == ("failed", LOST)
    assert not Trial.objects.exists()


def test_a_lost_copy_takes_no_place_of_the_next_one_even_without_a_beat(lead: User, bells: list[uuid.UUID]) -> None:
    long_ago = timezone.now() - LOST_AFTER - timedelta(seconds=5)
    (lost,) = queued(lead, status="running", started_at=long_ago)
    ask_again(request=closed_request(), by=lead, options={})
    assert state_of(lost) == ("failed", LOST)


def test_a_copy_nobody_took_is_rung_for_again_and_given_up_after_half_an_hour(
    lead: User, bells: list[uuid.UUID]
) -> None:
    waits = timezone.now() - timedelta(minutes=2)
    (evaluation,) = queued(lead, created_at=waits)
    sweep_again()
    assert bells == [evaluation.pk]
    Evaluation.objects.filter(pk=evaluation.pk).update(created_at=timezone.now() - UNHEARD_AFTER - timedelta(seconds=1))
    sweep_again()
    assert state_of(evaluation) == ("failed", UNHEARD)
    assert bells == [evaluation.pk]


def test_a_copy_of_a_worker_that_gives_signs_of_life_is_lost_after_the_longest_time_all_the_same(lead: User) -> None:
    now = timezone.now()
    for age, lost in ((LOST_AFTER - timedelta(seconds=5), 0), (LOST_AFTER + timedelta(seconds=5), 1)):
        Evaluation.objects.all().delete()
        queued(lead, status="running", started_at=now - age, ended_at=now)
        assert end_lost(now) == lost


def test_no_copy_is_called_lost_while_it_may_still_be_played() -> None:
    assert LOST_AFTER.total_seconds() > template.MIGRATE_SECONDS + child.START_SECONDS + run_again.PLAY_SECONDS
