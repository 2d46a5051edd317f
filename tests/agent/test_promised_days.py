"""A day promised to a customer counts whole, and everyone who shows it says the same; shorter spans stay exact."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agent.decide import decide
from agent.jobs.check import second_check_at
from agent.models import Approval, Run
from desk.durations import span_between
from intake.models import Question, RefundRequest, Return
from intake.policy_in_force import policy_in_force
from intake.shop_clock import deadline, ends_its_day, shop_time, short_deadline
from intake.submit_reply import submit_reply
from tests.agent.work_off import told, wait_for, work_off
from tests.factories import ApprovalFactory, RequestFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_review", "rung")]
A_WEEK = timedelta(days=7)
SetClock = Callable[[datetime], None]


@pytest.fixture
def set_clock(monkeypatch: pytest.MonkeyPatch) -> SetClock:
    return lambda moment: monkeypatch.setattr("django.utils.timezone.now", lambda: moment)


@pytest.fixture
def tomorrow_morning(set_clock: SetClock) -> datetime:
    """The shop's time, 9:18:49, and it is that now."""
    moment = (shop_time(timezone.now()) + timedelta(days=1)).replace(hour=9, minute=18, second=49, microsecond=0)
    set_clock(moment)
    return moment


def decided(by: User, choice: str, check_minutes: int = 10_080, **given: Any) -> RefundRequest:
    policy = policy_in_force()
    policy.return_check_minutes = check_minutes
    policy.save()
    request = RequestFactory(line__unit_price_minor=12_900, status="needs_approval", policy=policy)
    request.runs.all().delete()
    card: Approval = ApprovalFactory(request=request)
    decide(approval_id=card.pk, by=by, choice=choice, source="desk", **given)
    return work_off(request)


def words_of(user: User, address: str) -> str:
    client = Client()
    client.force_login(user)
    spaced = re.sub(r"<[^>]+>", " ", client.get(address).content.decode())
    return re.sub(r" ([.,])", r"\1", re.sub(r"\s+", " ", spaced))


def page_of(request: RefundRequest) -> str:
    return words_of(request.customer, reverse("request", args=[request.uuid]))


def desk_of(request: RefundRequest, staff: User) -> str:
    return words_of(staff, f"/desk/queue/all/{request.uuid}/")


def api_of(request: RefundRequest) -> dict[str, Any]:
    client = Client()
    client.force_login(request.customer)
    answer: dict[str, Any] = client.get(f"/api/v1/requests/{request.uuid}").json()
    return answer


def long_day(moment: datetime) -> str:
    return f"{shop_time(moment):%A, %B} {shop_time(moment).day}"


def short(moment: datetime) -> str:
    return f"{shop_time(moment):%b} {shop_time(moment).day}"


def test_an_answer_is_taken_until_the_promised_day_is_over(
    maya: User, tomorrow_morning: datetime, set_clock: SetClock
) -> None:
    request = decided(maya, "ask_customer", note="Did you change the batteries?")
    question = Question.objects.get()
    promised = deadline(tomorrow_morning, timedelta(days=14))
    assert question.reply_by == promised == Run.objects.get(trigger="late").due_at
    title = request.steps.get(message_key="question").title
    assert title == f"We have a question for you; please answer by {long_day(promised)}"
    assert f"answer by {short_deadline(promised, tomorrow_morning)}. After that," in page_of(request)
    assert re.search(rf"Without an answer by {short(promised)}( \d{{4}})? the request", desk_of(request, maya))
    set_clock(promised - timedelta(seconds=1))
    assert work_off(request).status == "needs_customer"
    submit_reply(customer=request.customer, request_uuid=request.uuid, message="Yes.", photo_ids=[], source="page")
    assert work_off(request).status == "needs_approval"
    assert "no_answer_yet" not in told(request)


def test_without_an_answer_staff_have_it_once_the_day_is_over(
    maya: User, tomorrow_morning: datetime, set_clock: SetClock
) -> None:
    request = decided(maya, "ask_customer", note="Did you change the batteries?")
    set_clock(deadline(tomorrow_morning, timedelta(days=14)) + timedelta(seconds=1))
    assert (work_off(request).status, told(request)[-1]) == ("needs_approval", "no_answer_yet")


def test_a_return_in_whole_days_ends_with_its_days_everywhere(maya: User, tomorrow_morning: datetime) -> None:
    request = decided(maya, "approve", require_return=True)
    parcel, promised = Return.objects.get(), deadline(tomorrow_morning, A_WEEK)
    assert parcel.ship_by == parcel.check_at == promised == Run.objects.get(trigger="check").due_at
    assert f", by {long_day(promised)}. Once" in request.steps.get(message_key="return_code").detail
    sent = request.steps.get(title__startswith="Sent the return code")
    assert sent.detail.endswith(f"the first check is after {long_day(promised)}.")
    page, day = page_of(request), short_deadline(promised, tomorrow_morning)
    assert f"Ship it by {day} Write the code" in page
    assert f"we wait for your parcel until {day}. If it is not here by then" in page
    given = api_of(request)["return"]
    assert {datetime.fromisoformat(given[name]) for name in ("ship_by", "check_at")} == {promised}
    ahead = span_between(tomorrow_morning, promised)
    named = rf"{short(promised)}( \d{{4}})?"
    assert re.search(rf"Ship by {named} Next check {named} in {ahead} ", desk_of(request, maya))


def test_a_reminder_names_the_day_with_which_the_request_is_closed(
    maya: User, tomorrow_morning: datetime, set_clock: SetClock
) -> None:
    request = decided(maya, "approve", require_return=True)
    set_clock(deadline(tomorrow_morning, A_WEEK) + timedelta(seconds=4))
    assert (work_off(request).status, told(request)[-1]) == ("awaiting_return", "return_reminder")
    promised = deadline(tomorrow_morning, 2 * A_WEEK)
    assert Return.objects.get().check_at == promised
    reminder = request.steps.get(message_key="return_reminder").detail
    assert f"If it is not here by {long_day(promised)}, we close the request." in reminder
    day = short_deadline(promised, timezone.now())
    assert f"until {day}. If your parcel is not here by then, we close" in page_of(request)
    set_clock(promised - timedelta(seconds=1))
    assert work_off(request).status == "awaiting_return"
    set_clock(promised)
    assert work_off(request).status == "closed"


def test_a_check_after_minutes_is_exact_and_tells_the_time_of_day(maya: User, tomorrow_morning: datetime) -> None:
    request = decided(maya, "approve", check_minutes=90, require_return=True)
    parcel = Return.objects.get()
    assert parcel.check_at == tomorrow_morning + timedelta(minutes=90) == Run.objects.get(trigger="check").due_at
    assert ends_its_day(parcel.ship_by)
    day = long_day(tomorrow_morning)
    sent = request.steps.get(title__startswith="Sent the return code")
    assert sent.detail.endswith(f"the first check is after {day}, 10:48.")
    assert "we wait for your parcel until today, 10:48. If it is not here" in page_of(request)
    assert datetime.fromisoformat(api_of(request)["return"]["check_at"]) == parcel.check_at
    assert re.search(rf"Next check {short(parcel.check_at)}( \d{{4}})?, 10:48 in 1 h 30 min", desk_of(request, maya))
    wait_for(request, "check")
    assert f"If it is not here by {day}, 10:48, we close" in request.steps.get(message_key="return_reminder").detail


@pytest.mark.parametrize(
    ("late", "days"), [(timedelta(seconds=3), 14), (timedelta(minutes=59), 14), (timedelta(days=13), 27)]
)
def test_t11_and_t12_the_second_check_counts_from_the_awaited_day_or_from_a_late_reminder(
    late: timedelta, days: int
) -> None:
    made = shop_time(datetime.fromisoformat("2026-11-30T09:18:49-08:00"))
    first = deadline(made, A_WEEK)
    again = second_check_at(first, first + late, A_WEEK)
    assert (again, ends_its_day(again)) == (deadline(made, timedelta(days=days)), True)


def test_the_second_of_two_exact_checks_counts_from_the_reminder() -> None:
    first = datetime.fromisoformat("2026-11-30T09:18:49-08:00")
    reminded, delay = first + timedelta(seconds=3), timedelta(minutes=10)
    assert second_check_at(first, reminded, delay) == reminded + delay
