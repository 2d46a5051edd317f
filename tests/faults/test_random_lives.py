"""Random lives of requests hold to the rules of the house, and reach every kind of end while they do."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from payments.providers.choose import PROVIDERS
from tests.fake_bank import FakeBank
from tests.faults.lives.machine import Lives
from tests.faults.lives.told_lives import TOLD, tell_life
from tests.faults.report import COUNTED, FaultReport

pytestmark = [pytest.mark.django_db, pytest.mark.faults, pytest.mark.timeout(1800)]
FULL = bool(os.environ.get("FAULTS_FULL"))
LIVES, STEPS = (400, 40) if FULL else (30, 25)
USUAL_ENDS = {
    "stands in refunded",
    "stands in declined",
    "stands in needs_approval",
    "refund failed",
    "refund succeeded",
}
EVERY_END = USUAL_ENDS | {
    "stands in closed",
    "end left",
    "stands in needs_customer",
    "stands in awaiting_return",
    "stands in refunding",
    "refund automatic",
    "refund decided",
    "refund with shipping",
    "refund tried again",
    "run given up",
    "run taken up again",
    "bank said pending by run",
    "bank said failed by run",
    "bank said succeeded by run",
    "bank said succeeded by beat",
    "bank said succeeded by webhook",
    "bank said failed by webhook",
    "told refunded",
    "told on_its_way",
    "told refund_did_not_go_through",
    "told question",
    "told no_answer_yet",
    "told return_code",
    "told return_reminder",
    "told closed",
    "told declined",
    "told person_is_looking",
    "told of Your parcel arrived",
}


@pytest.fixture
def lives(monkeypatch: pytest.MonkeyPatch) -> type[Lives]:
    """A machine whose shop has the bank and the agent's eyes; `seen` counts what its lives came to."""
    monkeypatch.setitem(PROVIDERS, "bank", FakeBank())

    class Watched(Lives):
        seen: Counter[str] = Counter()

    monkeypatch.setattr(
        "agent.jobs.review.review",
        lambda lease, *, may_refund: Watched.now_living.shop.review(lease, may_refund=may_refund),
    )
    return Watched


def test_whatever_happens_in_whatever_order_the_rules_of_the_house_hold(
    lives: type[Lives], tell: Callable[[str], None], record_property: Callable[[str, object], None]
) -> None:
    run_state_machine_as_test(
        lives,
        settings=settings(
            max_examples=LIVES,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            derandomize=not FULL,
            suppress_health_check=list(HealthCheck),
        ),
    )
    record_property(COUNTED, FaultReport("random lives", lives.seen["lives"]).line)
    tell(", ".join(f"{what} {count}" for what, count in sorted(lives.seen.items())))
    assert not USUAL_ENDS - set(lives.seen), sorted(USUAL_ENDS - set(lives.seen))


def test_the_machine_can_reach_every_kind_of_end(lives: type[Lives]) -> None:
    for name in TOLD:
        tell_life(lives, name)
    assert not EVERY_END - set(lives.seen), sorted(EVERY_END - set(lives.seen))
