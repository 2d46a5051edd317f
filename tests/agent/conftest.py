"""Staff, a bank and a review that says what a test wants, for the tests of runs and money."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from agent.lease import Lease
from agent.outcomes import Blocked, Handover, PhotoEvidence, ReviewResult
from agent.pay import refund_automatically
from intake.models import RefundRequest, Step
from intake.timeline import Entry, write_step
from payments.providers.choose import PROVIDERS
from tests.agent.talked_cases import talked_over
from tests.factories import StaffFactory
from tests.fake_bank import FakeBank


class FakeReview:
    """Stands for the model's loop. `result` is what it comes to; `seen` keeps whether it might refund, each time."""

    def __init__(self) -> None:
        self.result: Callable[[Lease], ReviewResult] = refund_or_hand_over
        self.seen: list[bool] = []

    def __call__(self, lease: Lease, *, may_refund: bool) -> ReviewResult:
        self.seen.append(may_refund)
        return self.result(lease)

    def hands_over(self, recommendation: str, **changes: object) -> None:
        handover = Handover(recommendation=recommendation, **changes)  # type: ignore[arg-type]
        self.result = lambda lease: handover

    def dies(self) -> None:
        """As a killed worker leaves it: a running step, and nothing said."""

        def die(lease: Lease) -> ReviewResult:
            with lease.fenced():
                looking = Entry(
                    kind=Step.Kind.TOOL,
                    actor=Step.Actor.AGENT,
                    title="Inspecting the photo",
                    state=Step.State.RUNNING,
                    run_uuid=lease.run_id,
                )
                write_step(lease.request_id, looking)
            raise KeyboardInterrupt

        self.result = die


def refund_or_hand_over(lease: Lease) -> ReviewResult:
    answer = refund_automatically(lease, PhotoEvidence(verdict="yes"))
    if isinstance(answer, Blocked):
        return Handover(recommendation="refund", reasoning="It is broken.", failed_rules=answer.failed)
    return answer


@pytest.fixture
def fake_review(monkeypatch: pytest.MonkeyPatch) -> FakeReview:
    fake = FakeReview()
    monkeypatch.setattr("agent.jobs.review.review", fake)
    return fake


@pytest.fixture
def worded_decline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.jobs.decision.word_decline", lambda lease, *, request_id, note: f"We are sorry. {note}")


@pytest.fixture
def bank(monkeypatch: pytest.MonkeyPatch) -> FakeBank:
    """Charges with `provider="bank"` are refunded by it."""
    fake = FakeBank()
    monkeypatch.setitem(PROVIDERS, "bank", fake)
    return fake


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[uuid.UUID]:
    """The runs that were announced, instead of ringing for them."""
    heard: list[uuid.UUID] = []

    def hear(run_id: uuid.UUID) -> bool:
        heard.append(run_id)
        return True

    monkeypatch.setattr("agent.announce.ring", hear)
    return heard


@pytest.fixture
def maya(db: None) -> User:
    """A staff member with what support may do."""
    return StaffFactory()


@pytest.fixture
def talked(maya: User) -> RefundRequest:
    """A case in which question, answer, parcel and decision have rows."""
    return talked_over(maya)
