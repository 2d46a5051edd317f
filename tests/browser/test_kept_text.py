"""What a customer typed outlives a session that ended meanwhile, and is forgotten once it arrived."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.window import PASSWORD, Window

pytestmark = [pytest.mark.browser, pytest.mark.once, pytest.mark.timeout(400)]
TYPED = "Only the handle is loose.\nSince Monday."


def test_text_sent_after_signing_out_elsewhere_is_there_after_signing_in(priya: Window) -> None:
    page = priya.page
    page.goto("/")
    page.get_by_role("link", name="Ask for a refund for").first.click()
    form = page.url
    page.locator("input[name=reason][value=changed_mind]").check()
    page.get_by_label("What happened?").fill(TYPED)
    other = page.context.new_page()
    other.goto("/")
    other.get_by_role("button", name="Sign out").click()
    other.wait_for_url(re.compile("/sign-in"))
    other.close()

    page.locator("form[data-draft] button[type=submit]").last.click()
    page.wait_for_url(re.compile("/sign-in"))
    page.get_by_label("E-mail").fill("priya.raman@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").last.click()
    page.wait_for_url(form)
    expect(page.get_by_label("What happened?")).to_have_value(TYPED)

    page.locator("input[name=reason][value=changed_mind]").check()
    page.locator("form[data-draft] button[type=submit]").last.click()
    page.wait_for_url(re.compile(r"/requests/[0-9a-f-]{36}$"))
    assert page.evaluate("Object.keys(sessionStorage)") == []
