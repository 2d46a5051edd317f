"""A customer's page while the line is bad, the session ends and questions come and go: nothing they gave is lost."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import APIResponse, Locator, Page, Route, expect

from refunddesk.demo_shop.pictures import photo_file
from tests.browser.staff_side import SKU
from tests.browser.window import PASSWORD, Window
from tests.whole_desk import WholeDesk

pytestmark = [pytest.mark.browser, pytest.mark.once, pytest.mark.timeout(400)]
HALF = "It tips over when\nthe carafe is half"
REQUEST_PAGE = re.compile(r"/requests/[0-9a-f-]{36}$")
COME_TO_THE_FRONT = "document.dispatchEvent(new Event('visibilitychange'))"
PHOTOS = ("kettle-dented-spout", "scale-blank-display", "carafe-cracked")
# Answers which of the presses were sent.
PRESS_TWICE_STOP_AND_PRESS_LATER = """() => {
  const button = document.querySelector("form[data-draft] .submit button"), sent = [], now = Date.now;
  addEventListener("submit", (event) => sent.push(!event.defaultPrevented));
  button.click();
  button.click();
  stop();
  Date.now = () => now() + 60000;
  button.click();
  return sent;
}"""
NOTE_PANELS = """() => {
  window.panels = [];
  const look = () => window.panels.push(document.querySelector("#standing h2").textContent);
  new MutationObserver(look).observe(document.querySelector("main"), { childList: true, subtree: true });
}"""


def behind(desk: WholeDesk, verb: str, *given: str | int) -> str:
    """Calls a function of `staff_side` beside the running desk."""
    call = f"{verb}({', '.join(map(json.dumps, given))})"
    ran = desk.manage("shell", "--verbosity", "0", "-c", f"from tests.browser.staff_side import {verb}; print({call})")
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def form_of(order: str) -> str:
    return f"/orders/{order}/refund/{SKU}"


def open_without_socket(page: Page, uuid: str) -> None:
    """The page then asks whenever it comes to the front, which a test can make it do."""
    page.route_web_socket(re.compile("/ws/"), lambda socket: socket.close())
    page.goto(f"/requests/{uuid}")


def hear(page: Page) -> None:
    with page.expect_response(re.compile("/news")):
        page.evaluate(COME_TO_THE_FRONT)


def update(page: Page, title: str) -> Locator:
    return page.locator("#updates-list .update-title", has_text=title)


def kept(page: Page) -> Locator:
    return page.get_by_label("What you wrote, in case you need it")


def answer_field(page: Page) -> Locator:
    return page.get_by_label("Your answer")


def sent_photos(page: Page) -> Locator:
    return page.locator("[data-photo-list] li:not(.sending) input[name=photo]")


def add_photo(page: Page) -> None:
    page.locator("input[type=file]").set_input_files(photo_file(PHOTOS[0]))
    expect(sent_photos(page)).to_have_count(1)


def choose_reason(page: Page) -> None:
    page.locator("input[name=reason][value=changed_mind]").check()


def send(page: Page) -> None:
    page.locator("form[data-draft] .submit button").click()


def sign_out_elsewhere(page: Page) -> None:
    other = page.context.new_page()
    other.goto("/")
    other.get_by_role("button", name="Sign out").click()
    other.wait_for_url(re.compile("/sign-in"))
    other.close()


def sign_in_here(page: Page) -> None:
    page.wait_for_url(re.compile("/sign-in"))
    page.get_by_label("E-mail").fill("priya.raman@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.locator("main").get_by_role("button", name="Sign in").click()


def forgive(window: Window, status: int) -> None:
    """The browser's own line about an answer that the test provoked."""
    window.complaints[:] = [line for line in window.complaints if f"status of {status}" not in line]


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


def test_a_request_that_was_made_elsewhere_meanwhile_leaves_the_text_to_be_read(desk: WholeDesk, priya: Window) -> None:
    page, order = priya.page, behind(desk, "sell")
    page.goto(form_of(order))
    page.get_by_label("What happened?").fill(HALF)
    sign_out_elsewhere(page)
    send(page)
    page.wait_for_url(re.compile("/sign-in"))
    behind(desk, "take_in", order)
    sign_in_here(page)
    expect(page.get_by_role("heading", name="There is nothing to ask for right now")).to_be_visible()
    expect(kept(page)).to_have_value(HALF)
    forgive(priya, 409)


def test_choices_text_and_photos_are_there_after_going_back_and_after_signing_in_again(
    desk: WholeDesk, priya: Window
) -> None:
    page = priya.page
    page.goto(form_of(behind(desk, "sell", 2)))

    def everything_is_there() -> None:
        expect(page.locator("input[name=reason]:checked")).to_have_value("changed_mind")
        expect(page.get_by_label("How many?")).to_have_value("1")
        expect(page.get_by_label("What happened?")).to_have_value(HALF)
        expect(sent_photos(page)).to_have_count(1)
        expect(page.locator("[data-photo-list] .photo-name")).to_have_text(f"{PHOTOS[0]}.jpg")
        expect(page.locator(".submit button")).to_have_text("Ask for $34.00 back")

    choose_reason(page)
    page.get_by_label("How many?").select_option("1")
    page.get_by_label("What happened?").fill(HALF)
    add_photo(page)
    everything_is_there()
    page.get_by_role("link", name="What we refund").click()
    page.wait_for_url(re.compile("/policy"))
    page.go_back()
    everything_is_there()
    sign_out_elsewhere(page)
    send(page)
    sign_in_here(page)
    everything_is_there()
    send(page)
    page.wait_for_url(REQUEST_PAGE)
    expect(page.locator(".thumbs img")).to_have_count(1)
    assert page.evaluate("Object.keys(sessionStorage)") == []


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


def test_enter_sends_the_form_and_removes_no_photo(desk: WholeDesk, priya: Window) -> None:
    page = priya.page
    page.goto(form_of(behind(desk, "sell")))
    choose_reason(page)
    add_photo(page)
    send(page)
    expect(page.get_by_text("Tell us in a sentence or two what is wrong.")).to_be_visible()
    expect(page.locator("button[name=remove]")).to_have_count(1)
    page.get_by_label("What happened?").fill(HALF)
    page.locator("input[name=reason]:checked").press("Enter")
    page.wait_for_url(REQUEST_PAGE)
    expect(page.locator(".thumbs img")).to_have_count(1)
    forgive(priya, 400)


def test_a_photo_on_its_way_holds_the_form_until_it_is_removed(desk: WholeDesk, priya: Window) -> None:
    page = priya.page
    page.goto(form_of(behind(desk, "sell")))
    page.route(re.compile("/photos$"), lambda route: None)
    page.locator("input[type=file]").set_input_files(photo_file(PHOTOS[0]))
    buttons = page.locator("form[data-draft] [type=submit]")
    expect(buttons).to_have_count(2)
    for button in buttons.all():
        expect(button).to_be_disabled()
    with page.expect_event("requestfailed"):
        page.get_by_role("button", name="Remove").click()
    for button in buttons.all():
        expect(button).to_be_enabled()
    expect(page.locator("[data-photo-status]")).to_have_text("")


def test_photos_beyond_the_fifth_are_left_out_in_words_that_can_be_seen(desk: WholeDesk, priya: Window) -> None:
    page = priya.page
    page.goto(form_of(behind(desk, "sell")))
    page.locator("input[type=file]").set_input_files([photo_file(name) for name in PHOTOS * 2])
    expect(sent_photos(page)).to_have_count(5)
    said = page.get_by_text("At most 5 photos fit; the others were left out.")
    expect(said).to_have_class("hint")


def test_a_form_that_was_stopped_on_its_way_can_be_sent_again_but_not_twice_at_once(
    desk: WholeDesk, priya: Window
) -> None:
    page = priya.page
    page.goto(form_of(behind(desk, "sell")))
    choose_reason(page)
    page.get_by_label("What happened?").fill(HALF)
    assert page.evaluate(PRESS_TWICE_STOP_AND_PRESS_LATER) == [True, False, True]
    page.wait_for_url(REQUEST_PAGE)
