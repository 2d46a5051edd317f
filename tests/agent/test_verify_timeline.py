"""Nothing is put into a sealed timeline unseen, and no honest way a timeline is written is called forged."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from agent.chain import append_link
from agent.give_up import give_up
from agent.models import ChainRecord, Run
from agent.seal_timelines import seal_timelines
from agent.tasks import work
from agent.verify.pages import read_pages
from agent.verify.shop import verify_shop
from agent.verify.timeline import check_timeline
from intake.models import RefundRequest, Step
from intake.timeline import Entry, finish_step, write_step
from tests.agent.conftest import FakeReview
from tests.agent.falsify import named, rewritten, sql
from tests.behind_the_book import behind_the_book
from tests.factories import RequestFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rung", "worded_decline")]
PUT_IN = "Step 3 of the timeline was put in later."


@pytest.fixture(autouse=True)
def at_rest_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.seal_timelines.AT_REST_AFTER", timedelta(0))


def looked(state: Step.State = Step.State.DONE, **changes: Any) -> Entry:
    return Entry(kind=Step.Kind.TOOL, actor=Step.Actor.AGENT, title="Looked", state=state, **changes)


def running(request: RefundRequest) -> Step:
    return write_step(request.pk, looked(Step.State.RUNNING))


def done(request: RefundRequest) -> Step:
    return write_step(request.pk, looked())


@pytest.fixture
def sealed() -> RefundRequest:
    """Its steps stand at 1, 2, 4 and 5, of which 5 still runs; the end of the first was the third write."""
    request: RefundRequest = RequestFactory()
    first = running(request)
    done(request)
    finish_step(first.pk)
    done(request)
    running(request)
    assert seal_timelines() == 1
    assert named(request) == ""
    return request


def misfits(request: RefundRequest) -> list[str]:
    return list(check_timeline(read_pages([request.pk])[0]))


def put_in(request: RefundRequest, position: int, rev: int, state: str = "done") -> Step:
    """A message of the customer at an old time; the request counts on where that is needed."""
    forged = Step.objects.create(
        request=request,
        position=position,
        rev=rev,
        state=state,
        kind="message",
        actor="customer",
        title="You wrote",
        detail="Never mind.",
        for_customer=True,
        created_at=timezone.now() - timedelta(days=1),
    )
    RefundRequest.objects.filter(pk=request.pk, rev__lt=rev).update(rev=rev)
    return forged


@pytest.mark.parametrize("state", ["done", "failed", "running"])
@pytest.mark.parametrize("rev", [1, 6])
def test_a_step_put_between_sealed_ones_is_named(sealed: RefundRequest, rev: int, state: str) -> None:
    put_in(sealed, 3, rev, state)
    assert named(sealed) == PUT_IN


def test_nor_does_the_next_seal_make_it_true(sealed: RefundRequest) -> None:
    put_in(sealed, 3, 6)
    assert seal_timelines() == 1
    assert "3" in sealed.chain.get(sequence=2).facts["timeline"]["steps"]
    assert named(sealed) == PUT_IN


def test_nor_a_seal_that_finds_it_running(sealed: RefundRequest) -> None:
    put_in(sealed, 3, 1, "running")
    done(sealed)
    assert seal_timelines() == 1
    assert "3" in sealed.chain.get(sequence=2).facts["timeline"]["running"]
    assert named(sealed) == PUT_IN


def test_a_sealed_step_told_anew_is_named_also_after_the_next_seal(sealed: RefundRequest) -> None:
    behind_the_book(Step).filter(request=sealed, position=2).update(title="Saw nothing", rev=6)
    behind_the_book(RefundRequest).filter(pk=sealed.pk).update(rev=6)
    assert named(sealed) == "Step 2 of the timeline is not as it was sealed."
    assert seal_timelines() == 1
    assert "2" in sealed.chain.get(sequence=2).facts["timeline"]["steps"]
    assert named(sealed) == "Step 2 of the timeline is not as it was sealed."


@pytest.mark.parametrize("change", ["kind = 'message'", "actor = 'customer'", "for_customer = NOT for_customer"])
def test_a_running_step_that_became_another_one_is_named(sealed: RefundRequest, change: str) -> None:
    sql(f"UPDATE intake_step SET {change} WHERE position = 5")
    assert named(sealed) == "Step 5 of the timeline is not as it was sealed."
    finish_step(Step.objects.get(position=5).pk)
    assert seal_timelines() == 1
    assert named(sealed) == "Step 5 of the timeline is not as it was sealed."


def test_a_running_step_that_was_taken_out_is_named(sealed: RefundRequest) -> None:
    sql("DELETE FROM intake_step WHERE position = 5")
    assert named(sealed) == "Step 5 of the timeline is missing."


def test_a_running_step_that_is_said_to_have_ended_before_is_named(sealed: RefundRequest) -> None:
    sql("UPDATE intake_step SET state = 'done' WHERE position = 5")
    assert named(sealed) == "Step 5 of the timeline was put in later."


def test_before_any_seal_a_step_at_the_number_of_another_write_is_named() -> None:
    request = RequestFactory()
    first = running(request)
    done(request)
    finish_step(first.pk)
    assert named(request) == ""
    put_in(request, 3, 4)
    assert named(request) == "Step 3 of the timeline stands at the number of another write."


@pytest.mark.parametrize(("position", "rev"), [(1, 2), (3, 2)])
def test_a_step_with_a_number_the_request_did_not_count_is_named(position: int, rev: int) -> None:
    request = RequestFactory()
    done(request)
    sql("UPDATE intake_step SET position = %s, rev = %s", position, rev)
    assert named(request) == f"Step {position} of the timeline has a number that was not counted."


def test_an_answer_the_customer_did_not_give_is_named_at_the_end_too(sealed: RefundRequest) -> None:
    put_in(sealed, 6, 6)
    assert named(sealed) == "The answer that step 6 of the timeline tells is not in the book."


def test_a_timeline_that_was_sealed_before_running_steps_were_kept_fits_as_it_did(sealed: RefundRequest) -> None:
    rewritten(sealed.chain.get(), lambda facts: facts["timeline"].pop("running"))
    assert named(sealed) == ""
    finish_step(Step.objects.get(position=5).pk)
    assert named(sealed) == ""
    assert seal_timelines() == 1
    assert verify_shop().misfits == []


def test_a_step_that_runs_through_several_links_fits(sealed: RefundRequest) -> None:
    for subject in "ab":
        done(sealed)
        with transaction.atomic():
            link = append_link(sealed.pk, ChainRecord.Kind.TIMELINE, f"{sealed.pk}:{subject}", {})
        assert list(link.facts["timeline"]["running"]) == ["5"]
    assert misfits(sealed) == []
    finish_step(Step.objects.get(position=5).pk, title="Seen")
    assert misfits(sealed) == []
    assert seal_timelines() == 1
    assert misfits(sealed) == []


def test_two_links_in_one_transaction_with_steps_around_them_fit() -> None:
    request = RequestFactory()
    with transaction.atomic():
        for subject in "ab":
            done(request)
            append_link(request.pk, ChainRecord.Kind.TIMELINE, f"{request.pk}:{subject}", {})
            append_link(request.pk, ChainRecord.Kind.TIMELINE, f"{request.pk}:{subject}{subject}", {})
        done(request)
    assert misfits(request) == []


def test_an_end_that_was_told_twice_leaves_a_free_number_and_fits(sealed: RefundRequest) -> None:
    for _ in range(2):
        finish_step(Step.objects.get(position=5).pk)
    done(sealed)
    assert named(sealed) == ""
    assert seal_timelines() == 1
    assert named(sealed) == ""
    put_in(sealed, 7, 9)
    assert named(sealed) == "Step 7 of the timeline was put in later."


def test_a_run_that_died_and_was_sealed_amid_its_work_fits_to_its_end(maya: User, fake_review: FakeReview) -> None:
    request = RequestFactory()
    fake_review.dies()
    run = Run.objects.get(request=request)
    with pytest.raises(KeyboardInterrupt):
        work(str(run.pk))
    write_step(request.pk, Entry(kind=Step.Kind.TRIGGER, actor=Step.Actor.SYSTEM, title="News", for_customer=True))
    assert seal_timelines() == 1
    assert verify_shop().misfits == []
    run.refresh_from_db()
    assert give_up(run.pk, run.token, "It died three times.")
    assert Step.objects.get(title="Inspecting the photo").state == "failed"
    assert verify_shop().misfits == []
    assert seal_timelines() == 1
    assert verify_shop().misfits == []
