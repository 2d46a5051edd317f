"""The brake is thrown while thirty-two automatic refunds are being reserved: none is reserved after it holds."""

from __future__ import annotations

import threading

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, transaction

from agent.models import Run
from agent.pause import set_automatic_refunds
from agent.tasks import work
from intake.models import RefundRequest
from payments.models import Refund
from tests.factories import PolicyFactory, RequestFactory, StaffFactory
from tests.faults.races.rows import due_run
from tests.faults.races.together import MANY, at_once, paid, stands
from tests.processes import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgres,
    pytest.mark.faults,
    pytest.mark.usefixtures("no_stumbling"),
]
LATE = 4
BUDGET_FOR_ALL = 1_000_000


@pytest.fixture
def lead(staff: tuple[User, User]) -> User:
    lead: User = StaffFactory(permissions=["agent.change_switch"])
    return lead


def small_requests() -> list[RefundRequest]:
    """Each of another customer, and all of them within the day's budget: only the brake stands between."""
    policy = PolicyFactory(number=7, daily_budget_minor=BUDGET_FOR_ALL)
    return [RequestFactory(policy=policy) for _ in range(MANY)]


def refused_rules(request: RefundRequest) -> list[str]:
    verdicts = Run.objects.get(request=request, trigger="request").verdicts or []
    return [verdict["rule"] for verdict in verdicts if verdict["outcome"] == "ask"]


def waiting_for_a_row() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return int(cursor.fetchone()[0])


def test_a_pause_that_is_not_yet_committed_holds_every_reservation_until_it_is(lead: User) -> None:
    requests = small_requests()
    thrown = threading.Event()

    def pause() -> int:
        with transaction.atomic():
            set_automatic_refunds(paused=True, by=lead, reason="Bank holiday")
            thrown.set()
            wait_until(lambda: waiting_for_a_row() >= MANY, 30, "all of them wait for the switch")
            return Refund.objects.count()

    def review(run_id: str) -> None:
        assert thrown.wait(30)
        work(run_id)

    runs = [str(due_run(request, "request").pk) for request in requests]
    answers = at_once(pause, *[lambda run_id=run_id: review(run_id) for run_id in runs])
    assert answers == [0] + [None] * MANY
    assert Refund.objects.count() == 0
    assert [(stands(request), refused_rules(request)) for request in requests] == [
        ("needs_approval", ["paused"])
    ] * MANY


def test_once_the_pause_has_committed_not_one_more_refund_is_reserved(lead: User) -> None:
    requests = small_requests()
    begins, committed = threading.Event(), threading.Event()

    def pause() -> int:
        """How many were reserved in the moment nobody else could."""
        wait_until(Refund.objects.exists, 30, "the first refund is reserved")
        begins.set()
        with transaction.atomic():
            set_automatic_refunds(paused=True, by=lead, reason="Bank holiday")
            reserved = Refund.objects.count()
        committed.set()
        return reserved

    def review(run_id: str, after: threading.Event | None) -> None:
        assert after is None or after.wait(30)
        work(run_id)

    runs = [str(due_run(request, "request").pk) for request in requests]
    starts = [None] * (MANY // 2) + [begins] * (MANY // 2 - LATE) + [committed] * LATE
    reviews = [
        lambda run_id=run_id, after=after: review(run_id, after) for run_id, after in zip(runs, starts, strict=True)
    ]
    reserved, *others = at_once(pause, *reviews)
    assert others == [None] * MANY
    assert 1 <= reserved <= MANY - LATE
    assert Refund.objects.filter(automatic=True).count() == reserved
    refunded = [request for request in requests if stands(request) == "refunded"]
    assert [paid(request) for request in refunded] == [["succeeded"]] * reserved
    asked = [request for request in requests if request not in refunded]
    assert {(stands(request), *refused_rules(request)) for request in asked} == {("needs_approval", "paused")}
    call_command("verify", verbosity=0)
