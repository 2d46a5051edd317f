"""A request's chain: a link with each decision, reserve and answer, in their own transaction, sealing the timeline."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from agent.anchor import anchor_yesterday
from agent.chain import NOTHING_BEFORE, append_link, link_hash
from agent.decide import decide
from agent.link_facts import photo_row
from agent.models import ChainAnchor, ChainRecord
from agent.seal_steps import begun_digest, step_digest
from agent.tasks import anchor_day
from agent.verify.anchors import check_anchors
from intake.models import RefundRequest, Step
from intake.refusals import Refusal
from intake.timeline import Entry, finish_step, write_step
from payments.models import RefundOutcome
from payments.settle_refund import record_outcome
from tests.agent.book_cases import (
    before_staff,
    declined,
    paid_after_return,
    paid_automatically,
    paid_by_decision,
)
from tests.agent.test_races import at_once
from tests.behind_the_book import behind_the_book
from tests.factories import RefundFactory, RequestFactory

pytestmark = pytest.mark.django_db
Kind = ChainRecord.Kind


@pytest.fixture(autouse=True)
def nothing_rings(rung: object, worded_decline: None) -> None:
    """No broker is there to be rung for."""


def kinds(request: RefundRequest) -> list[str]:
    return list(request.chain.order_by("sequence").values_list("kind", flat=True))


def link_of(request: RefundRequest, kind: str) -> ChainRecord:
    return request.chain.get(kind=kind)


def link_to(request: RefundRequest, subject: str = "a", **facts: Any) -> ChainRecord:
    return append_link(request.pk, Kind.DECISION, subject, facts)


def test_each_road_leaves_its_links(maya: User) -> None:
    assert kinds(paid_automatically()) == ["reserve", "outcome"]
    assert kinds(paid_by_decision(maya)) == ["decision", "reserve", "outcome"]
    assert kinds(paid_after_return(maya)) == ["decision", "reserve", "outcome"]
    assert kinds(declined(maya)) == ["decision"]


def test_each_link_holds_the_hash_of_the_one_before(maya: User) -> None:
    links = list(paid_by_decision(maya).chain.order_by("sequence"))
    assert [link.sequence for link in links] == [1, 2, 3]
    assert [link.previous_hash for link in links] == [NOTHING_BEFORE, links[0].hash, links[1].hash]
    for link in links:
        assert link.hash == link_hash(link.sequence, link.kind, link.subject, link.facts, link.previous_hash)


def test_the_hash_knows_every_part_of_a_link() -> None:
    parts: list[Any] = [1, "reserve", "x", {"a": [1, "é"]}, NOTHING_BEFORE]
    others: list[Any] = [2, "outcome", "y", {"a": [1, "e"]}, "f" * 64]
    mixed = [[*parts[:n], others[n], *parts[n + 1 :]] for n in range(5)]
    hashes = {link_hash(*each) for each in [parts, *mixed]}
    assert len(hashes) == 6
    assert link_hash(1, "a", "b", {"x": 1, "y": 2}, "0") == link_hash(1, "a", "b", {"y": 2, "x": 1}, "0")


def test_an_automatic_reserve_keeps_rules_picture_and_policy() -> None:
    request = paid_automatically()
    facts, photo = link_of(request, "reserve").facts, request.photos.get()
    assert [verdict["outcome"] for verdict in facts["rules"]["verdicts"]] == ["allow"] * 8
    assert facts["rules"]["facts"]["amount_minor"] == facts["refund"]["amount_minor"] == 3400
    assert facts["photos"] == [photo_row(photo)]
    assert facts["photos"][0]["sha256"] == photo.digest
    assert facts["seen"]["verdict"] == "yes"
    assert (facts["policy"]["number"], facts["policy"]["auto_refund_limit_minor"]) == (1, 5000)
    assert (facts["charge"]["captured_minor"], facts["charge"]["reserved_before_minor"]) == (3400, 0)


def test_a_decision_keeps_who_what_and_on_which_card(maya: User) -> None:
    facts = link_of(paid_by_decision(maya, amount_minor=9900), "decision").facts
    assert facts["by"] == {"id": maya.pk, "username": maya.username, "name": "Maya Okafor"}
    assert (facts["decision"]["choice"], facts["decision"]["amount_minor"]) == ("approve", 9900)
    assert facts["card"]["recommendation"] == "refund"
    assert [rule["rule"] for rule in facts["card"]["failed_rules"]] == ["limit"]


def test_a_decided_reserve_names_its_decision_and_what_came_back(maya: User) -> None:
    request = paid_after_return(maya)
    facts = link_of(request, "reserve").facts
    assert facts["decision"] == link_of(request, "decision").subject
    assert (facts["receipt"]["units"], facts["receipt"]["agreed_minor"]) == (1, 25_800)
    assert facts["refund"]["amount_minor"] == 12_900


def test_news_by_webhook_is_a_link_and_the_same_news_again_is_none() -> None:
    request = RequestFactory(status="refunding")
    refund = RefundFactory(charge=request.line.order.charges.get(), request_uuid=request.uuid)
    for _ in range(2):
        record_outcome(refund.pk, status="failed", reason="closed", provider_reference="p1", source="webhook")
    link = request.chain.get()
    assert link.subject == str(RefundOutcome.objects.get().pk)
    assert link.facts["outcome"] | {"id": "", "at": ""} == {
        "id": "",
        "status": "failed",
        "reason": "closed",
        "source": "webhook",
        "at": "",
    }
    assert link.facts["refund"]["provider_reference"] == "p1"


def test_a_refund_made_elsewhere_belongs_to_no_chain() -> None:
    record_outcome(
        RefundFactory(request_uuid=None, key="k").pk,
        status="succeeded",
        reason="",
        provider_reference="",
        source="beat",
    )
    assert not ChainRecord.objects.exists()


def test_a_refused_decision_leaves_no_link(maya: User) -> None:
    request = before_staff()
    with pytest.raises(Refusal):
        decide(approval_id=request.approvals.get().pk, by=maya, choice="decline", note="", source="desk")
    assert not request.chain.exists()


def test_what_is_undone_takes_its_link_with_it(maya: User) -> None:
    card = before_staff().approvals.get()
    with transaction.atomic():
        decide(approval_id=card.pk, by=maya, choice="decline", note="No.", source="desk")
        assert ChainRecord.objects.count() == 1
        transaction.set_rollback(True)
    assert not ChainRecord.objects.exists()


def test_one_fact_has_one_link() -> None:
    first, second = RequestFactory(), RequestFactory()
    link_to(first)
    with pytest.raises(IntegrityError), transaction.atomic():
        link_to(second)
    assert ChainRecord.objects.count() == 1


def test_a_link_seals_the_steps_that_have_ended_since_the_last(maya: User) -> None:
    request = RequestFactory()
    step = Entry(kind=Step.Kind.TOOL, actor=Step.Actor.AGENT, title="Looked")
    one = write_step(request.pk, step)
    running = write_step(request.pk, Entry(**{**vars(step), "state": Step.State.RUNNING}))
    begun = {"2": begun_digest(running)}
    assert link_to(request, "a").facts["timeline"] == {"rev": 2, "steps": {"1": step_digest(one)}, "running": begun}
    finish_step(running.pk, title="Seen")
    running.refresh_from_db()
    ended = {"2": step_digest(running)}
    assert link_to(request, "b").facts["timeline"] == {"rev": 3, "steps": ended, "running": {}}
    assert link_to(request, "c").facts["timeline"] == {"rev": 3, "steps": {}, "running": {}}


@pytest.mark.django_db(transaction=True)
def test_outside_a_transaction_no_link_is_written() -> None:
    request = RequestFactory()
    with pytest.raises(RuntimeError):
        link_to(request)
    assert not ChainRecord.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.faults
def test_links_that_are_written_at_the_same_moment_make_one_chain() -> None:
    request = RequestFactory()

    def write(subject: str) -> Callable[[], ChainRecord]:
        def in_a_transaction() -> ChainRecord:
            with transaction.atomic():
                return link_to(request, subject)

        return in_a_transaction

    answers = at_once(*[write(subject) for subject in "abcde"])
    assert all(isinstance(answer, ChainRecord) for answer in answers)
    links = list(request.chain.order_by("sequence"))
    assert [link.sequence for link in links] == [1, 2, 3, 4, 5]
    assert [link.previous_hash for link in links] == [NOTHING_BEFORE, *[link.hash for link in links[:-1]]]


@pytest.mark.django_db(transaction=True)
@pytest.mark.postgres
@pytest.mark.faults
def test_an_anchor_waits_for_whoever_is_writing_a_link() -> None:
    """Else a link with a smaller key could come in later, and the anchor would not fit any more."""
    yesterday = timezone.now() - timedelta(days=1)
    slow, quick = RequestFactory(), RequestFactory()
    written, seen = threading.Event(), []

    def write_slowly() -> None:
        with transaction.atomic():
            append_link(slow.pk, Kind.DECISION, "slow", {}, at=yesterday)
            with_smaller_key = ChainRecord.objects.get().pk
            written.set()
            time.sleep(1)
        seen.append(with_smaller_key)

    def write_quickly_and_anchor() -> ChainAnchor | None:
        written.wait(10)
        with transaction.atomic():
            append_link(quick.pk, Kind.DECISION, "quick", {}, at=yesterday)
        return anchor_yesterday()

    anchor = at_once(write_slowly, write_quickly_and_anchor)[1]
    assert (anchor.chains, anchor.records) == (2, 2)
    assert seen[0] < anchor.last_record_id
    assert list(check_anchors()) == []


def linked_on(moment: datetime) -> ChainRecord:
    return append_link(RequestFactory().pk, Kind.DECISION, str(moment), {}, at=moment)


def test_yesterday_is_anchored_once() -> None:
    linked_on(timezone.now() - timedelta(days=3))
    anchor_day()
    anchor_day()
    anchor = ChainAnchor.objects.get()
    assert anchor.day == timezone.localdate() - timedelta(days=1)
    assert (anchor.chains, anchor.records, anchor.previous_hash) == (1, 1, NOTHING_BEFORE)


def test_a_day_ends_in_the_shops_zone(time_machine: Any) -> None:
    linked_on(datetime(2026, 3, 4, 7, 59, tzinfo=UTC))  # 23:59 of the 3rd in Los Angeles
    linked_on(datetime(2026, 3, 4, 8, 1, tzinfo=UTC))
    time_machine(datetime(2026, 3, 4, 8, 5, tzinfo=UTC))
    first = anchor_yesterday()
    time_machine(datetime(2026, 3, 5, 8, 5, tzinfo=UTC))
    second = anchor_yesterday()
    assert first is not None
    assert second is not None
    assert [(each.day.day, each.chains) for each in (first, second)] == [(3, 1), (4, 2)]
    assert second.previous_hash == first.hash != second.hash


@pytest.fixture
def time_machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets what the anchor takes for now."""
    return lambda moment: monkeypatch.setattr("agent.anchor.timezone.now", lambda: moment)


def test_an_older_day_is_not_anchored_after_a_newer_one(time_machine: Any) -> None:
    assert anchor_yesterday() is not None
    time_machine(datetime(2020, 1, 1, tzinfo=UTC))
    assert anchor_yesterday() is None
    assert behind_the_book(ChainAnchor).count() == 1
