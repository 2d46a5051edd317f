"""What Priya does and sees on her pages, while `staff_side` acts beside her."""

from __future__ import annotations

import json
import re

from playwright.sync_api import Locator, Page, expect

from refunddesk.demo_shop.pictures import photo_file
from tests.browser.staff_side import SKU
from tests.browser.window import PASSWORD, Window
from tests.whole_desk import WholeDesk

HALF = "It tips over when\nthe carafe is half"
REQUEST_PAGE = re.compile(r"/requests/[0-9a-f-]{36}$")
COME_TO_THE_FRONT = "document.dispatchEvent(new Event('visibilitychange'))"
PHOTOS = ("kettle-dented-spout", "scale-blank-display", "carafe-cracked")


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
