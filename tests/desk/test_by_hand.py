"""The desk under a person's hands in a real browser: keyboard, typed words, a lost session, a page that is too old."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from agent.models import Approval, Decision
from tests.desk.rows import card_for, kettle_request, member_of, step_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASSWORD = "a-good-long-one"
WORDS = "A long reason, typed with care"
HEAR_VIOLATIONS = """() => {
  window.violations = [];
  addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
}"""


@pytest.fixture
def daniel_signs_in(transactional_db: None) -> User:
    user = member_of("support", "Daniel", "Reyes")
    user.set_password(PASSWORD)
    user.save()
    return user


@pytest.fixture
def cards(transactional_db: None) -> list[Approval]:
    return [card_with_step() for _ in range(3)]


def card_with_step() -> Approval:
    request = kettle_request()
    step = step_of(request, "Looked up the order", arguments={}, result={"number": "PH-20388"})
    return card_for(request, findings=[{"text": "Delivered 5 days ago.", "step": step.position, "source": "model"}])


@pytest.fixture
def window(
    chromium_path: str,
    live_server: LiveServer,
    monkeypatch: pytest.MonkeyPatch,
    daniel_signs_in: User,
    cards: list[Approval],
) -> Iterator[Page]:
    """Daniel's window on the queue. The driver's event loop runs in this thread, in which the tests also read rows."""
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    said: list[str] = []
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium_path, args=arguments)
        opened = browser.new_context(base_url=live_server.url, viewport={"width": 1440, "height": 900}).new_page()
        opened.on("console", lambda message: said.append(message.text))
        opened.on("pageerror", lambda error: said.append(f"error {error}"))
        sign_in(opened, daniel_signs_in)
        opened.wait_for_url("**/queue/needs-approval/")
        yield opened
        browser.close()
    assert [text for text in said if "Content Security Policy" in text or text.startswith("error")] == []


def sign_in(window: Page, user: User) -> None:
    if "/login/" not in window.url:
        window.goto("/desk/login/")
    window.fill("input[name=username]", user.username)
    window.fill("input[name=password]", PASSWORD)
    window.click("button[type=submit]")


def start_to_decline(window: Page) -> None:
    window.keyboard.press("j")
    window.locator("[data-key=d]").wait_for()
    window.keyboard.press("d")
    window.locator("#dialog textarea").wait_for()
    window.fill("#dialog textarea", WORDS)


def send(window: Page) -> None:
    window.click("#dialog button[type=submit]")


def test_the_keyboard_moves_decides_and_can_be_switched_off(window: Page, cards: list[Approval]) -> None:
    rows = window.locator("#rows .row")
    window.keyboard.press("j")
    expect(rows.nth(0)).to_have_attribute("aria-current", "true")
    window.keyboard.press("j")
    expect(rows.nth(1)).to_have_attribute("aria-current", "true")
    window.keyboard.press("k")
    expect(rows.nth(0)).to_have_attribute("aria-current", "true")
    window.keyboard.press("a")
    expect(window.locator("#dialog button[type=submit]")).to_have_text("Refund $129.00")
    window.fill("#dialog input[name=amount]", "99.5")
    expect(window.locator("#dialog button[type=submit]")).to_have_text("Refund $99.50")
    window.keyboard.press("Escape")
    expect(window.locator("#dialog")).to_be_hidden()
    window.keyboard.press("/")
    expect(window.locator("#search")).to_be_focused()
    window.keyboard.press("Tab")
    window.click("[data-keys-switch]")
    expect(window.locator("html")).to_have_attribute("data-keys", "off")
    window.keyboard.press("d")
    expect(window.locator("#dialog")).to_be_hidden()


def test_typed_words_survive_closing_and_reloading_and_go_once(window: Page, cards: list[Approval]) -> None:
    start_to_decline(window)
    window.keyboard.press("Escape")
    window.reload()
    window.locator("[data-key=d]").wait_for()
    window.keyboard.press("d")
    expect(window.locator("#dialog textarea")).to_have_value(WORDS)
    send(window)
    expect(window.locator("#toast")).to_have_text(re.compile("Declined"))
    expect(window.locator(".head .chip")).to_have_text("Agent working")
    assert [decision.note for decision in Decision.objects.all()] == [WORDS]


def test_a_refused_dialog_sets_no_inline_style(window: Page, cards: list[Approval]) -> None:
    """A text box made larger by hand carries a style of its own, which the answer's box must not copy."""
    start_to_decline(window)
    window.fill("#dialog textarea", "")
    before = window.locator("#dialog textarea").bounding_box()
    assert before is not None
    window.mouse.move(before["x"] + before["width"] - 4, before["y"] + before["height"] - 4)
    window.mouse.down()
    window.mouse.move(before["x"] + before["width"] - 4, before["y"] + before["height"] + 60)
    window.mouse.up()
    expect(window.locator("#dialog textarea")).to_have_attribute("style", re.compile("height"))
    window.evaluate(HEAR_VIOLATIONS)
    send(window)
    expect(window.locator("#dialog .wrong .error")).to_contain_text("Say why it is declined")
    expect(window.locator("#dialog .htmx-settling")).to_have_count(0)
    window.wait_for_timeout(200)
    assert window.evaluate("window.violations") == []
    assert not Decision.objects.exists()


def test_a_session_lost_while_typing_leads_to_sign_in_and_back(
    window: Page, daniel_signs_in: User, cards: list[Approval]
) -> None:
    start_to_decline(window)
    window.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    send(window)
    window.wait_for_url("**/desk/login/**")
    assert not Decision.objects.exists()
    sign_in(window, daniel_signs_in)
    expect(window.locator("textarea[name=note]")).to_have_value(WORDS)
    window.click(".act-page button[type=submit]")
    expect(window.locator(".head .chip")).to_have_text("Agent working")
    assert Decision.objects.get().note == WORDS


def test_a_page_from_before_the_last_sign_in_says_reload_in_place(
    window: Page, daniel_signs_in: User, cards: list[Approval]
) -> None:
    start_to_decline(window)
    other = window.context.new_page()
    other.goto("/desk/")
    other.click(".me form button")
    other.goto("/desk/login/")
    sign_in(other, daniel_signs_in)
    send(window)
    expect(window.locator("#dialog .reload-note")).to_contain_text("Nothing was sent")
    expect(window.locator("#dialog textarea")).to_have_value(WORDS)
    assert not Decision.objects.exists()


def test_a_finding_opens_the_step_it_rests_on(window: Page, cards: list[Approval]) -> None:
    window.keyboard.press("j")
    expect(window.locator(".points a[data-step]")).to_have_attribute("href", "#step-1")
    window.click(".points a[data-step]")
    expect(window.locator("#step-1 details")).to_have_attribute("open", "")
    expect(window.locator("#step-1 pre").last).to_contain_text("PH-20388")
    expect(window.locator("#step-1")).to_be_focused()
    expect(window.locator("#step-1")).to_have_class(re.compile("pointed"))


def test_enter_on_a_phone_brings_a_far_step_into_view(window: Page, cards: list[Approval]) -> None:
    request = cards[0].request
    for number in range(40):
        step_of(request, f"Looked again {number}")
    last = step_of(request, "Looked once more")
    Approval.objects.filter(pk=cards[0].pk).update(
        counter_case={"text": "It may be old.", "step": last.position, "source": "model"}
    )
    window.set_viewport_size({"width": 390, "height": 800})
    window.goto(f"/desk/queue/all/{request.uuid}/")
    step = window.locator(f"#step-{last.position}")
    expect(step).not_to_be_in_viewport()
    window.focus(".against a[data-step]")
    window.keyboard.press("Enter")
    expect(step).to_be_in_viewport()
    expect(step).to_be_focused()


def test_without_javascript_the_link_still_leads_to_the_step_and_marks_it(window: Page, cards: list[Approval]) -> None:
    browser = window.context.browser
    assert browser is not None
    context = browser.new_context(java_script_enabled=False, storage_state=window.context.storage_state())
    plain = context.new_page()
    plain.goto(window.url.replace("/needs-approval/", f"/all/{cards[0].request.uuid}/"))
    plain.click(".points a[data-step]")
    assert plain.url.endswith("#step-1")
    expect(plain.locator("#step-1")).to_be_in_viewport()
    assert plain.locator("#step-1:target").count() == 1
