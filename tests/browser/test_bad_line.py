"""A request page while the line is bad, the session ends and questions come and go: no half-written answer is lost."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import APIResponse, Route, expect

from tests.browser.customer_side import (
    COME_TO_THE_FRONT,
    HALF,
    REQUEST_PAGE,
    add_photo,
    answer_field,
    behind,
    forgive,
    hear,
    kept,
    open_without_socket,
    send,
    sent_photos,
    sign_in_here,
    sign_out_elsewhere,
    update,
)
from tests.browser.window import Window
from tests.whole_desk import WholeDesk

pytestmark = [pytest.mark.browser, pytest.mark.once, pytest.mark.timeout(400)]
NOTE_PANELS = """() => {
  window.panels = [];
  const look = () => window.panels.push(document.querySelector("#standing h2").textContent);
  new MutationObserver(look).observe(document.querySelector("main"), { childList: true, subtree: true });
}"""


def test_an_answer_half_written_stays_when_its_question_is_taken_back_and_is_not_the_next_ones(
    desk: WholeDesk, priya: Window
) -> None:
    page, uuid = priya.page, behind(desk, "take_in")
    behind(desk, "ask", uuid, "Does it tip over?")
    open_without_socket(page, uuid)
    answer_field(page).fill(HALF)
    behind(desk, "take_back", uuid)
    hear(page)
    expect(update(page, "Nothing is left to answer")).to_be_visible()
    expect(answer_field(page)).to_have_count(0)
    expect(kept(page)).to_have_value(HALF)
    expect(kept(page)).to_be_focused()
    page.reload()
    expect(kept(page)).to_have_value(HALF)

    behind(desk, "ask", uuid, "Is the lid whole?")
    hear(page)
    expect(page.locator(".question")).to_have_text("Is the lid whole?")
    expect(answer_field(page)).to_have_value("")
    expect(kept(page)).to_have_value(HALF)

    page.get_by_role("button", name="Discard what you wrote").click()
    page.reload()
    expect(answer_field(page)).to_have_value("")
    expect(kept(page)).to_have_count(0)
    answer_field(page).fill("The lid is whole.")
    send(page)
    expect(answer_field(page)).to_have_count(0)
    expect(kept(page)).to_have_count(0)
    assert page.evaluate("Object.keys(sessionStorage)") == []


def test_an_answer_whose_question_is_taken_back_while_signed_out_can_still_be_read(
    desk: WholeDesk, priya: Window
) -> None:
    page, uuid = priya.page, behind(desk, "take_in")
    behind(desk, "ask", uuid, "Does it tip over?")
    open_without_socket(page, uuid)
    answer_field(page).fill(HALF)
    sign_out_elsewhere(page)
    send(page)
    page.wait_for_url(re.compile("/sign-in"))
    behind(desk, "take_back", uuid)
    sign_in_here(page)
    page.wait_for_url(REQUEST_PAGE)
    expect(kept(page)).to_have_value(HALF)
    forgive(priya, 401)


def test_an_ended_session_is_said_with_a_way_back_to_the_half_written_answer(desk: WholeDesk, priya: Window) -> None:
    page, uuid = priya.page, behind(desk, "take_in")
    behind(desk, "ask", uuid, "Does it tip over?")
    open_without_socket(page, uuid)
    answer_field(page).fill(HALF)
    add_photo(page)
    sign_out_elsewhere(page)
    page.evaluate(COME_TO_THE_FRONT)
    expect(page.get_by_role("status").filter(has_text="You are signed out.")).to_be_visible()
    page.get_by_role("link", name="Sign in again").click()
    sign_in_here(page)
    page.wait_for_url(REQUEST_PAGE)
    expect(answer_field(page)).to_have_value(HALF)
    expect(sent_photos(page)).to_have_count(1)
    forgive(priya, 401)


def test_news_that_needs_the_whole_page_waits_for_who_has_only_chosen_photos(desk: WholeDesk, priya: Window) -> None:
    page, uuid = priya.page, behind(desk, "take_in")
    behind(desk, "ask", uuid, "Have you a photo?")
    open_without_socket(page, uuid)
    add_photo(page)
    loads = priya.loads
    whole = {"type": "news", "rev": 1, "fragments": [], "reload": True}
    page.route(re.compile("/news"), lambda route: route.fulfill(json=whole))
    hear(page)
    expect(page.get_by_role("link", name="Reload the page")).to_be_visible()
    assert priya.loads == loads
    page.get_by_role("link", name="Reload the page").click()
    expect(sent_photos(page)).to_have_count(1)


def test_a_question_whose_form_could_not_be_fetched_comes_once_the_line_is_back(desk: WholeDesk, priya: Window) -> None:
    page, uuid = priya.page, behind(desk, "take_in")
    open_without_socket(page, uuid)
    page.route(re.compile("/answer$"), lambda route: route.abort("connectionrefused"))
    behind(desk, "ask", uuid, "Does it tip over?")
    hear(page)
    late = page.get_by_text("Our question could not be loaded yet.")
    expect(late).to_be_visible()
    page.unroute(re.compile("/answer$"))
    expect(page.locator(".question")).to_have_text("Does it tip over?")
    expect(late).to_have_count(0)


def test_what_did_not_change_is_neither_said_again_nor_loses_the_focus(desk: WholeDesk, priya: Window) -> None:
    page, uuid = priya.page, behind(desk, "take_in")
    behind(desk, "want_it_back", uuid)
    open_without_socket(page, uuid)
    copy = page.get_by_role("button", name="Copy")
    copy.focus()
    page.evaluate("window.standing = document.getElementById('standing')")
    behind(desk, "tell", uuid, "The label is printed")
    hear(page)
    expect(update(page, "The label is printed")).to_be_visible()
    assert page.evaluate("window.standing.isConnected")
    expect(copy).to_be_focused()


def test_an_answer_that_comes_late_takes_nothing_back(desk: WholeDesk, priya: Window) -> None:
    page, uuid = priya.page, behind(desk, "take_in")
    open_without_socket(page, uuid)
    held: list[tuple[Route, APIResponse]] = []

    def hold_the_first_news(route: Route) -> None:
        answer = route.fetch()
        if not held and answer.json()["fragments"]:
            held.append((route, answer))
        else:
            route.fulfill(response=answer)

    behind(desk, "ask", uuid, "Does it tip over?")
    page.route(re.compile("/news"), hold_the_first_news)
    page.evaluate(COME_TO_THE_FRONT)
    while not held:
        page.wait_for_timeout(20)
    behind(desk, "take_back", uuid)
    hear(page)
    expect(update(page, "Nothing is left to answer")).to_be_visible()
    page.evaluate(NOTE_PANELS)
    route, answer = held[0]
    with page.expect_response(re.compile("/news")):
        route.fulfill(response=answer)
    behind(desk, "tell", uuid, "We look again")
    hear(page)
    expect(update(page, "We look again")).to_be_visible()
    assert set(page.evaluate("window.panels")) == {"A person in our team is looking at your request"}
