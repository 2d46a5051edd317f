"""What a case says last is sealed as well: an hour later nobody can tell it otherwise unseen."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone

from agent.models import ChainAnchor, ChainRecord
from agent.seal_steps import begun_digest, step_digest
from agent.seal_timelines import seal_timelines
from agent.tasks import anchor_day
from agent.tasks import seal_timelines as task
from agent.verify.shop import verify_shop
from intake.models import RefundRequest, Step
from intake.timeline import Entry, finish_step, write_step
from refunddesk.schedule import timetable
from tests.agent.book_cases import declined, paid_automatically, paid_by_decision
from tests.agent.falsify import named, rewritten, sql
from tests.agent.test_races import at_once
from tests.behind_the_book import behind_the_book
from tests.factories import RequestFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_photo_folder", "rung", "worded_decline")]
Kind = ChainRecord.Kind


def rested(request: RefundRequest, minutes: int = 11) -> RefundRequest:
    behind_the_book(Step).update(created_at=timezone.now() - timedelta(minutes=minutes))
    return request


def kinds(request: RefundRequest) -> list[str]:
    return list(request.chain.order_by("sequence").values_list("kind", flat=True))


def looked(state: Step.State = Step.State.DONE) -> Entry:
    return Entry(kind=Step.Kind.TOOL, actor=Step.Actor.AGENT, title="Looked", state=state)


def sealed_case() -> RefundRequest:
    """Refunded by the rules, and its last words sealed. The times of its steps stay as they are."""
    request = paid_automatically()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agent.seal_timelines.AT_REST_AFTER", timedelta(0))
        assert seal_timelines() == 1
    return request


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("UPDATE intake_step SET title = 'We have refunded $1.00' WHERE message_key = 'refunded'", "not as it was"),
        ("UPDATE intake_step SET for_customer = NOT for_customer WHERE message_key = 'refunded'", "not as it was"),
        ("DELETE FROM intake_step WHERE kind = 'finish'", "is missing"),
    ],
)
def test_the_last_words_of_a_case_cannot_be_changed_unseen(statement: str, sentence: str) -> None:
    request = sealed_case()
    assert (kinds(request), verify_shop().misfits) == (["reserve", "outcome", "timeline"], [])
    sql(statement)
    assert named(request).startswith("Step ")
    assert sentence in named(request)


def test_the_link_seals_each_step_that_has_ended_and_nothing_else() -> None:
    request = RequestFactory()
    done, running = (write_step(request.pk, looked(state)) for state in (Step.State.DONE, Step.State.RUNNING))
    rested(request)
    assert seal_timelines() == 1
    link, done = request.chain.get(), Step.objects.get(pk=done.pk)
    assert (link.kind, link.subject, link.sequence) == (Kind.TIMELINE, f"{request.pk}:2", 1)
    assert set(link.facts) == {"case", "at", "timeline", "rows", "request", "policy", "photos"}
    begun = {"2": begun_digest(Step.objects.get(pk=running.pk))}
    assert link.facts["timeline"] == {"rev": 2, "steps": {"1": step_digest(done)}, "running": begun}
    assert seal_timelines() == 0
    finish_step(running.pk)
    assert seal_timelines() == 1
    assert list(request.chain.get(sequence=2).facts["timeline"]["steps"]) == ["2"]
    assert verify_shop().fits


def test_what_is_sealed_is_not_sealed_again(maya: User) -> None:
    for request in (paid_automatically(), paid_by_decision(maya), declined(maya)):
        rested(request)
    assert (seal_timelines(), seal_timelines()) == (3, 0)


def test_a_case_at_work_is_left_until_it_rests() -> None:
    request = RequestFactory()
    write_step(request.pk, looked())
    rested(request, minutes=9)
    assert seal_timelines() == 0
    assert not request.chain.exists()


def test_a_step_that_is_still_running_is_no_reason_for_a_link() -> None:
    request = RequestFactory()
    write_step(request.pk, looked(Step.State.RUNNING))
    rested(request)
    assert seal_timelines() == 0
    assert not request.chain.exists()


def test_all_are_sealed_however_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.seal_timelines.AT_ONCE", 2)
    for _ in range(5):
        write_step(RequestFactory().pk, looked())
    behind_the_book(Step).update(created_at=timezone.now() - timedelta(minutes=11))
    assert seal_timelines() == 5
    assert ChainRecord.objects.count() == 5


def test_after_its_time_it_leaves_the_rest_to_the_next_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.seal_timelines.AT_ONCE", 2)
    monkeypatch.setattr("agent.seal_timelines.LONGEST_SECONDS", -1)
    for _ in range(3):
        write_step(RequestFactory().pk, looked())
    behind_the_book(Step).update(created_at=timezone.now() - timedelta(minutes=11))
    assert [seal_timelines() for _ in range(3)] == [2, 1, 0]


@pytest.mark.parametrize("facts", ["{}", "[1]", '{"timeline": {"rev": "x"}}'])
def test_a_chain_that_cannot_be_read_does_not_keep_the_others_from_being_sealed(maya: User, facts: str) -> None:
    sound, broken = paid_automatically(), declined(maya)
    rested(broken)
    sql("UPDATE agent_chainrecord SET facts = %s WHERE request_id = %s", facts, broken.pk)
    assert seal_timelines() == 1
    assert (kinds(broken), kinds(sound)[-1]) == (["decision"], "timeline")


def test_a_seal_that_names_another_timeline_is_named() -> None:
    request = sealed_case()
    link = request.chain.get(kind=Kind.TIMELINE)
    behind_the_book(ChainRecord).filter(pk=link.pk).update(subject="1:1")
    link.refresh_from_db()
    rewritten(link, lambda facts: None)
    assert named(request) == "Link 3 seals another timeline than it names."


def test_a_request_that_counts_back_is_named() -> None:
    request = sealed_case()
    sql("UPDATE intake_refundrequest SET rev = 1")
    assert named(request) == "The request counts fewer writes to its timeline than were sealed."


def test_it_is_done_every_hour_and_before_the_day_is_anchored() -> None:
    assert timetable(15)["seal-timelines"] | {"options": None} == {
        "task": "agent.tasks.seal_timelines",
        "schedule": 3600.0,
        "options": None,
    }
    request = rested(paid_automatically())
    anchor_day()
    assert kinds(request)[-1] == "timeline"
    assert ChainAnchor.objects.count() == 1
    task()
    assert kinds(request).count("timeline") == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.postgres
@pytest.mark.faults
def test_a_request_somebody_is_writing_is_skipped_and_never_sealed_twice() -> None:
    held, free = RequestFactory(), RequestFactory()
    for request in (held, free):
        with transaction.atomic():
            write_step(request.pk, looked())
    behind_the_book(Step).update(created_at=timezone.now() - timedelta(minutes=11))

    def beside() -> int:
        try:
            return seal_timelines()
        finally:
            connection.close()

    with transaction.atomic():
        RefundRequest.objects.select_for_update(no_key=True).get(pk=held.pk)
        assert at_once(beside) == [1]
    assert (kinds(held), kinds(free)) == ([], ["timeline"])
    assert sum(at_once(*[beside] * 4)) == 1
    assert kinds(held) == ["timeline"]
