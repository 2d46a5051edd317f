"""The form that asks for a refund: what was filled in outlives a detour, and it is sent once, when it should be."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from refunddesk.demo_shop.pictures import photo_file
from tests.browser.customer_side import (
    HALF,
    PHOTOS,
    REQUEST_PAGE,
    add_photo,
    behind,
    choose_reason,
    forgive,
    form_of,
    kept,
    send,
    sent_photos,
    sign_in_here,
    sign_out_elsewhere,
)
from tests.browser.window import Window
from tests.whole_desk import WholeDesk

pytestmark = [pytest.mark.browser, pytest.mark.once, pytest.mark.timeout(400)]
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
