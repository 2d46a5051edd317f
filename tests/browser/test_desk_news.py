"""News on an open desk: who reads, presses, types or has opened something keeps it where it was."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect
from pytest_django.live_server_helper import LiveServer

from agent.facts import shop_day
from agent.models import Approval, BudgetDay, Decision
from intake.models import RefundRequest, Step
from tests.behind_the_book import behind_the_book
from tests.browser.staff_window import StaffWindow, staff_window
from tests.desk.rows import card_for, kettle_request, member_of, step_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MARK = "(selector) => { window.marked = document.querySelector(selector); }"
STILL_THERE = "() => window.marked.isConnected"
TOP = "(place) => Math.round(place.scrollTop)"
STANDS = "(place) => place.getBoundingClientRect().top"


@pytest.fixture
def desk(chromium_path: str, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[StaffWindow]:
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    with staff_window(chromium_path, live_server.url) as window:
        yield window


def pay_by_itself(spent_minor: int) -> None:
    day = shop_day(timezone.now())
    BudgetDay.objects.update_or_create(day=day, currency="USD", defaults={"spent_minor": spent_minor})


def declined_card(request: RefundRequest) -> Decision:
    return decline(card_for(request))


def decline(card: Approval) -> Decision:
    behind_the_book(Approval).filter(pk=card.pk).update(closed_at=timezone.now())
    return Decision.objects.create(
        approval=card, choice="decline", note="No.", decided_by=member_of("lead"), source="desk"
    )


def test_a_scrolled_list_stays_where_it_is_and_its_rows_keep_focus_and_press(desk: StaffWindow) -> None:
    page = desk.page
    requests = [kettle_request(created_at=timezone.now() - timedelta(hours=n)) for n in range(40)]
    for request in requests:
        card_for(request)
    desk.open_queue("all")
    page.locator("#rows").evaluate("(rows) => { rows.scrollTop = 1500; }")
    row = f"#row-{requests[22].uuid}"
    page.focus(row)
    scrolled, stood = page.locator("#rows").evaluate(TOP), page.locator(row).evaluate(STANDS)
    page.evaluate(MARK, row)
    page.hover(row)
    page.mouse.down()
    gone, new = requests[30], kettle_request()
    behind_the_book(RefundRequest).filter(pk=gone.pk).update(created_at=timezone.now() - timedelta(days=9))
    desk.tell_desk()
    expect(page.locator(f"#row-{new.uuid}")).to_be_attached()
    assert page.locator("#rows .row").first.get_attribute("id") == f"row-{new.uuid}"
    assert page.locator("#rows .row").last.get_attribute("id") == f"row-{gone.uuid}"
    assert page.locator("#rows").evaluate(TOP) > scrolled > 0
    assert abs(page.locator(row).evaluate(STANDS) - stood) < 1
    expect(page.locator(row)).to_be_focused()
    assert page.evaluate(STILL_THERE)
    page.mouse.up()
    expect(page.locator("#case")).to_have_attribute("aria-label", f"Request {requests[22]}")


def test_a_search_shows_its_answer_from_the_top(desk: StaffWindow) -> None:
    page = desk.page
    for _ in range(40):
        card_for(kettle_request())
    desk.open_queue()
    page.locator("#rows").evaluate("(rows) => { rows.scrollTop = 1500; }")
    with page.expect_response(lambda answer: "q=gooseneck" in answer.url) as answer:
        page.fill("#search", "gooseneck")
    answer.value.finished()
    page.wait_for_function("() => document.querySelector('#rows').scrollTop === 0")
    expect(page.locator("#rows .row").first).to_be_in_viewport()


def test_a_step_leaves_what_was_scrolled_opened_and_switched_in_the_case(desk: StaffWindow) -> None:
    page = desk.page
    request = kettle_request(details="It leaks.\n" * 40)
    declined_card(request)
    card_for(request)
    step_of(request, "Looked up the order", arguments={}, result={})
    desk.open_case(request)
    main = page.locator("#case-main")
    switch, then = main.locator(".acts input[name=require_return]"), main.locator(".card-then")
    switch.check()
    then.locator("summary").click()
    page.locator("#more-1 summary").click()
    main.evaluate("(main) => { main.scrollTop = 300; }")
    page.focus("[data-key=d]")
    top = main.evaluate(TOP)
    assert top > 0
    rev = request.rev
    step_of(request, "Maya wrote a note", kind=Step.Kind.MESSAGE, actor=Step.Actor.STAFF)
    stamp = main.get_attribute("data-stamp")
    desk.tell_case(request, rev)
    expect(main).not_to_have_attribute("data-stamp", str(stamp))
    assert main.evaluate(TOP) == top
    expect(switch).to_be_checked()
    expect(then).to_have_attribute("open", "")
    expect(page.locator("#more-1")).to_have_attribute("open", "")
    expect(page.locator("[data-key=d]")).to_be_focused()


def test_another_decision_does_not_open_or_close_an_earlier_one(desk: StaffWindow) -> None:
    page = desk.page
    request = kettle_request()
    first = declined_card(request)
    card = card_for(request)
    step_of(request, "Looked up the order")
    desk.open_case(request)
    page.locator(f"#decision-{first.pk} summary").click()
    rev = request.rev
    second = decline(card)
    card_for(request)
    step_of(request, "Maya asked", kind=Step.Kind.ACTION, actor=Step.Actor.STAFF)
    desk.tell_case(request, rev)
    expect(page.locator(f"#decision-{second.pk} details")).not_to_have_attribute("open", "")
    expect(page.locator(f"#decision-{first.pk} details")).to_have_attribute("open", "")


def test_the_brake_keeps_focus_and_press_while_money_goes_out(desk: StaffWindow) -> None:
    page = desk.page
    card_for(kettle_request())
    pay_by_itself(1_000)
    desk.open_queue()
    expect(page.locator("#brake")).to_contain_text("$10.00 of")
    page.focus(".brake-act")
    page.evaluate(MARK, ".brake-act")
    desk.tell_desk()
    page.hover(".brake-act")
    page.mouse.down()
    pay_by_itself(2_500)
    desk.tell_desk()
    expect(page.locator("#brake")).to_contain_text("$25.00 of")
    expect(page.locator(".brake-act")).to_be_focused()
    assert page.evaluate(STILL_THERE)
    page.mouse.up()
    expect(page.locator("#dialog")).to_contain_text("Pause automatic refunds?")


def test_the_last_line_of_the_timeline_is_told_in_a_place_that_lasts(desk: StaffWindow) -> None:
    page = desk.page
    request = kettle_request()
    card_for(request)
    step_of(request, "Looked up the order")
    desk.open_case(request)
    tail = page.locator("#tail[aria-live=polite]")
    expect(tail).to_contain_text("Queued")
    page.evaluate(MARK, "#tail")
    rev = request.rev
    lease = timezone.now() + timedelta(minutes=1)
    request.runs.update(status="running", started_at=timezone.now(), token=uuid.uuid4(), lease_until=lease)
    step_of(request, "Review started", kind=Step.Kind.TRIGGER)
    desk.tell_case(request, rev)
    expect(tail).to_contain_text("The agent is thinking")
    assert page.evaluate(STILL_THERE)
