"""Answers that come late or in another order: what is marked, what is open and what the address says stay one."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from pytest_django.live_server_helper import LiveServer

from agent.models import Approval
from tests.browser.staff_window import StaffWindow, staff_window
from tests.desk.rows import card_for, kettle_request

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
QUEUE = "/desk/queue/needs-approval/"
ASK_ONCE_MORE_AFTER_THE_SWAP = """() => {
  const ask = () => setTimeout(() => htmx.trigger("#rows", "queue-changed"));
  document.addEventListener("htmx:afterSwap", ask, { once: true });
}"""
NEWS_WAIT_MS = 600  # longer than the list waits after news


@pytest.fixture
def cards(transactional_db: None) -> list[Approval]:
    return [card_for(kettle_request()) for _ in range(4)]


@pytest.fixture
def desk(
    chromium_path: str, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch, cards: list[Approval]
) -> Iterator[StaffWindow]:
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    with staff_window(chromium_path, live_server.url) as window:
        window.open_queue()
        yield window


def row(desk: StaffWindow, card: Approval) -> str:
    return f"#row-{card.request.uuid}"


def expect_open(desk: StaffWindow, card: Approval) -> None:
    """The pane, its buttons, the marked row, the address and the title all speak of this card."""
    page = desk.page
    expect(page.locator(".acts input[name=card]")).to_have_value(str(card.pk))
    expect(page.locator("#rows .row[aria-current]")).to_have_attribute("id", f"row-{card.request.uuid}")
    expect(page).to_have_url(re.compile(rf"{QUEUE}{card.request.uuid}/$"))
    expect(page).to_have_title(re.compile(rf"^{card.request} Gooseneck kettle, 0\.9 L · "))
    expect(page.locator("#case")).not_to_have_attribute("inert", "")


def test_of_two_quick_clicks_the_second_opens_its_case_whichever_answer_comes_first(
    desk: StaffWindow, cards: list[Approval]
) -> None:
    first = desk.hold(f"**{QUEUE}{cards[0].request.uuid}/")
    second = desk.hold(f"**{QUEUE}{cards[1].request.uuid}/")
    desk.page.click(row(desk, cards[0]))
    first.wait_for()
    desk.page.click(row(desk, cards[1]))
    second.wait_for()
    first.let_go()
    expect(desk.page.locator(f"{row(desk, cards[0])}.htmx-request")).to_have_count(0)
    second.let_go()
    expect_open(desk, cards[1])


def test_a_row_is_marked_when_it_is_chosen_so_that_three_keys_move_three_rows(
    desk: StaffWindow, cards: list[Approval]
) -> None:
    held = desk.hold(re.compile(rf"{QUEUE}[0-9a-f-]+/$"))
    for number in range(3):
        desk.page.keyboard.press("j")
        expect(desk.page.locator("#rows .row").nth(number)).to_have_attribute("aria-current", "true")
    desk.tell_desk()
    held.let_go()
    expect_open(desk, cards[2])
    desk.page.keyboard.press("k")
    expect_open(desk, cards[1])


def test_a_key_pressed_while_another_case_is_on_its_way_is_meant_for_that_one(
    desk: StaffWindow, cards: list[Approval]
) -> None:
    page = desk.page
    page.keyboard.press("j")
    expect_open(desk, cards[0])
    held = desk.hold(f"**{QUEUE}{cards[1].request.uuid}/")
    page.keyboard.press("j")
    held.wait_for()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.keyboard.press("a")
    expect(page.locator("#case")).to_have_attribute("inert", "")
    assert asked == []
    held.let_go()
    expect(page.locator("#dialog")).to_be_visible()
    expect(page.locator("#dialog input[name=card]")).to_have_value(str(cards[1].pk))
    expect_open(desk, cards[1])
    assert [url for url in asked if str(cards[0].request.uuid) in url] == []


def test_a_form_that_comes_after_another_case_was_chosen_is_not_shown(desk: StaffWindow, cards: list[Approval]) -> None:
    page = desk.page
    page.keyboard.press("j")
    expect_open(desk, cards[0])
    form = desk.hold(re.compile("/decide"))
    case = desk.hold(f"**{QUEUE}{cards[1].request.uuid}/")
    page.keyboard.press("a")
    form.wait_for()
    page.keyboard.press("j")
    case.wait_for()
    with page.expect_response(re.compile("/decide")) as answer:
        form.let_go()
    answer.value.finished()
    case.let_go()
    expect_open(desk, cards[1])
    expect(page.locator("#dialog")).to_be_hidden()
    expect(page.locator("#dialog-body")).to_be_empty()


def test_a_case_that_cannot_be_opened_leaves_the_one_shown_marked_and_usable(
    desk: StaffWindow, cards: list[Approval]
) -> None:
    page = desk.page
    page.keyboard.press("j")
    expect_open(desk, cards[0])
    held = desk.hold(f"**{QUEUE}{cards[1].request.uuid}/")
    page.keyboard.press("j")
    held.wait_for()
    page.keyboard.press("a")
    held.fail()
    expect(page.locator("#toast .reload-note")).to_contain_text("The desk could not answer.")
    expect_open(desk, cards[0])
    page.click(row(desk, cards[2]))
    expect_open(desk, cards[2])
    expect(page.locator("#dialog")).to_be_hidden()


def test_news_do_not_take_away_what_was_searched_for(desk: StaffWindow, cards: list[Approval]) -> None:
    page = desk.page
    held = desk.hold(re.compile(r"\?q="))
    page.fill("#search", str(cards[2].request))
    held.wait_for()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    desk.tell_desk()
    page.wait_for_timeout(NEWS_WAIT_MS)
    assert [url for url in asked if "/queue/" in url] == []
    page.evaluate(ASK_ONCE_MORE_AFTER_THE_SWAP)
    held.let_go()
    expect(page.locator("#rows .row")).to_have_count(1)
    card_for(kettle_request())
    desk.tell_desk()
    expect(page.locator("#count-needs-approval")).to_have_text("5")
    page.wait_for_function("() => !document.querySelector('#rows.htmx-request')")
    expect(page.locator("#rows .row")).to_have_count(1)
    expect(page.locator("#rows .row")).to_have_attribute("id", f"row-{cards[2].request.uuid}")
