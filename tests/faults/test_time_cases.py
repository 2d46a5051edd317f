"""The time cases of the field reports (tests/field/scenarios/time_cases.json); those with real programs are played in
`outages`, `test_broker_away` and `test_killed_worker`, and counted here.
"""

from __future__ import annotations

import re
import time
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings as shop
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agent.case_file import read_case
from agent.lease import Lease
from agent.models import Run
from agent.outcomes import Blocked, PhotoEvidence, Reserved
from agent.pay import refund_automatically
from agent.runs import claim
from agent.tools.context import ReviewContext
from agent.tools.get_order import GET_ORDER
from agent.tools.get_refund_history import GET_REFUND_HISTORY
from agent.tools.tool import NoArguments
from intake.models import RefundRequest
from intake.policy_in_force import policy_in_force
from tests.agent.work_off import open_card, work_off
from tests.factories import ChargeFactory, LineFactory, OrderFactory, RefundFactory, RequestFactory, StaffFactory
from tests.faults import test_broker_away, test_killed_worker
from tests.faults.clear_review import clear_review
from tests.faults.outages import test_days_pass
from tests.payments.scenarios import Case, after, numbers, untested
from tests.processes import DeskPrograms, RedisServer, wait_until

pytestmark = pytest.mark.faults
CLEAR = PhotoEvidence(verdict="yes", explanation="The photo shows it broken.")
DAYS_AS_TOLD = {"auto": "inside", "staff": "outside"}


def test_no_time_case_of_the_file_is_left_out() -> None:
    places = [globals(), *map(vars, (test_broker_away, test_days_pass, test_killed_worker))]
    assert untested("time_cases.json", *places) == []


def moment(text: str) -> datetime:
    return datetime.fromisoformat(re.sub(r" \(.*", "", text))


def asked_at(case: Case, settings: Any) -> RefundRequest:
    """A small, clear request at the moments of the case, in a shop of its zone."""
    settings.SHOP_TIME_ZONE = settings.TIME_ZONE = case["zone"]
    line = LineFactory(delivered_at=moment(case["delivered"]))
    request: RefundRequest = RequestFactory(line=line, created_at=moment(case["now"]), policy=policy_in_force())
    return request


def on_queue(request: RefundRequest) -> str:
    client = Client()
    client.force_login(StaffFactory())
    return client.get(reverse("admin:queue", args=["needs-approval"])).content.decode()


def tool_of(lease: Lease, tool: Any) -> dict[str, Any]:
    context = ReviewContext(lease, read_case(lease.request_id), True, deadline=time.monotonic() + 100)
    result: dict[str, Any] = tool.run(context, NoArguments()).result
    return result


def claimed(request: RefundRequest) -> Lease:
    lease = claim(request.runs.get().pk)
    assert lease is not None
    return lease


def everywhere(case: Case, settings: Any, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """What the rule, the agent's tool, the card and the badge on the queue make of the case: one word if they agree."""
    monkeypatch.setattr("agent.jobs.review.review", clear_review)
    request = work_off(asked_at(case, settings))
    words = {"inside" if request.status == "refunded" else "outside"}
    rules = {verdict["rule"]: verdict for verdict in request.runs.get().verdicts}
    words.add(DAYS_AS_TOLD["auto" if rules["window"]["outcome"] == "allow" else "staff"])
    words.add(re.findall(r"(inside|outside) the 30-day window", rules["window"]["sentence"])[0])
    other = asked_at(case, settings)
    words.add("inside" if tool_of(claimed(other), GET_ORDER)["this_request"]["inside_window"] else "outside")
    words.add("outside" if "outside window" in on_queue(request) else "inside")
    if request.status == "needs_approval":
        assert [failed["rule"] for failed in open_card(request).failed_rules] == ["window"]
    return words


@pytest.mark.django_db
def test_t01_exactly_thirty_days_are_inside(case: Case, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert everywhere(case, settings, monkeypatch) == {case.expected.split()[0]}


@pytest.mark.django_db
def test_t02_a_second_into_the_next_day_is_outside(case: Case, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert everywhere(case, settings, monkeypatch) == {case.expected.split()[0]}


@pytest.mark.django_db
def test_t03_the_last_day_counts_whole_and_everyone_says_so(
    case: Case, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert everywhere(case, settings, monkeypatch) == {case.expected.partition(":")[0]}
    [days] = numbers(case.expected)
    page = Client().get(reverse("policy")).content.decode()
    assert f"within {days} days of delivery" in page
    assert "the last day still counts" in page


@pytest.mark.django_db
def test_t06_the_day_is_the_shops_and_not_that_of_utc(
    case: Case, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert everywhere(case, settings, monkeypatch) == {case.expected.split()[0]}
    days, of_utc = numbers(case.expected)
    delivered, asked = moment(case["delivered"]), moment(case["now"])
    assert (asked.astimezone(ZoneInfo("UTC")).date() - delivered.astimezone(ZoneInfo("UTC")).date()).days == of_utc
    told = tool_of(claimed(asked_at(case, settings)), GET_ORDER)["this_request"]
    assert told["days_from_delivery_to_request"] == days


@pytest.mark.django_db
def test_t09_the_date_belongs_to_the_line_and_not_to_the_order(case: Case) -> None:
    order = OrderFactory(placed_at=timezone.now() - timedelta(days=45))
    ChargeFactory(order=order)
    ages = {"A": numbers(case["say"])[0], "B": numbers(case["say"])[1]}
    answers = {}
    for name, days in ages.items():
        line = LineFactory(order=order, delivered_at=timezone.now() - timedelta(days=days))
        answers[name] = refund_automatically(claimed(RequestFactory(line=line)), CLEAR)
    to_staff, automatic = answers["A"], answers["B"]
    assert (after(case.expected, "A"), after(case.expected, "B may be")) == ("staff", "automatic")
    assert isinstance(to_staff, Blocked)
    assert [verdict.rule for verdict in to_staff.failed] == ["window"]
    assert isinstance(automatic, Reserved)


@pytest.mark.django_db
def test_t10_a_refund_counts_through_its_ninetieth_day_and_not_on_the_next(case: Case) -> None:
    counted, [most, next_day] = numbers(case["say"]), numbers(case.expected)
    assert (sorted(counted), next_day) == ([most - 1, most], most + 1)
    said = {days: said_of_a_refund_so_long_ago(days) for days in (*counted, next_day)}
    assert said == {**dict.fromkeys(counted, ("staff", 1)), next_day: ("auto", 0)}


def said_of_a_refund_so_long_ago(days: int) -> tuple[str, int]:
    """Where the rule sends the next request, and how many refunds the agent's tool counts; at the day's last minute."""
    request = RequestFactory(policy=policy_in_force())
    day = timezone.now().astimezone(ZoneInfo(shop.SHOP_TIME_ZONE)) - timedelta(days=days)
    at = day.replace(hour=23, minute=59)
    charge = ChargeFactory(order__customer=request.customer)
    RefundFactory(charge=charge, status="succeeded", reserved_at=at)
    lease = claimed(request)
    history = tool_of(lease, GET_REFUND_HISTORY)["refunds_in_history_days"]
    answer = refund_automatically(lease, CLEAR)
    if isinstance(answer, Blocked):
        assert [verdict.rule for verdict in answer.failed] == ["history"]
        return "staff", history
    return "auto", history


@pytest.mark.django_db(transaction=True)
@pytest.mark.worker
def test_t17_no_task_for_what_is_rolled_back_and_none_before_the_commit(
    case: Case, real_broker: RedisServer, programs: DeskPrograms
) -> None:
    [seconds] = numbers(case["say"])
    with transaction.atomic():
        RequestFactory()
        transaction.set_rollback(True)
    assert case.expected.startswith("first: no task at all")
    assert (waiting_tasks(real_broker), Run.objects.count()) == (0, 0)

    with transaction.atomic():
        request = RequestFactory(status="needs_customer")
        time.sleep(seconds)
        assert waiting_tasks(real_broker) == 0
    assert after(case.expected, "sent after") == "commit"
    assert waiting_tasks(real_broker) == 1
    worker = programs.worker()
    wait_until(lambda: request.runs.get().status == "done", 20, "the worker saw the row")
    assert (request.runs.get().tries, "Traceback" in worker.log.read_text()) == (1, False)


def waiting_tasks(redis: RedisServer) -> int:
    with redis.client() as client:
        return int(client.llen("refunddesk"))
