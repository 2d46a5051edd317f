"""Random lives of requests hold to the rules of the house, and reach every kind of end while they do.

Each day draws other lives, each run in full too; FAULTS_SEED=<the number a run told> plays the same ones again.
"""

from __future__ import annotations

import os
import secrets
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from payments.providers.choose import PROVIDERS
from tests.faults.lives.machine import Lives
from tests.faults.lives.shop import PROVIDER, Bank
from tests.faults.lives.told_lives import TOLD, tell_life
from tests.faults.report import COUNTED, FaultReport

pytestmark = [pytest.mark.django_db, pytest.mark.faults, pytest.mark.timeout(3600)]
FULL = bool(os.environ.get("FAULTS_FULL"))
LIVES, STEPS = (400, 40) if FULL else (30, 25)
# A day's runs play the same lives, so that a failure there is the same on every machine until it is mended.
TODAY = int(f"{datetime.now(UTC):%Y%m%d}")
SEED = int(os.environ.get("FAULTS_SEED") or (secrets.randbits(32) if FULL else TODAY))
# A few lives may happen to have no decline among them; that is no fault, so as many again are drawn.
MOST_DRAWS = 3
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
    "refund of fewer units",
    "refund made by hand",
    "line asked for to the last unit, in parts",
    "bank refused what was refunded by hand",
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
    "told refund_needs_you",
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
    monkeypatch.setitem(PROVIDERS, PROVIDER, Bank())

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
    for drawn in range(SEED, SEED + MOST_DRAWS):
        tell(f"FAULTS_SEED={drawn} plays these lives again")
        run_state_machine_as_test(
            seed(drawn)(lives),
            settings=settings(
                max_examples=LIVES,
                stateful_step_count=STEPS,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
        if set(lives.seen) >= USUAL_ENDS:
            break
    record_property(COUNTED, FaultReport("random lives", lives.seen["lives"]).line)
    tell(", ".join(f"{what} {count}" for what, count in sorted(lives.seen.items())))
    assert not USUAL_ENDS - set(lives.seen), sorted(USUAL_ENDS - set(lives.seen))


def test_the_machine_can_reach_every_kind_of_end(lives: type[Lives]) -> None:
    for name in TOLD:
        tell_life(lives, name)
    assert not EVERY_END - set(lives.seen), sorted(EVERY_END - set(lives.seen))
