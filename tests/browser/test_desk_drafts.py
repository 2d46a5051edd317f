"""What is typed and ticked in a dialog comes back as it was, and its button names what will be paid."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from pytest_django.live_server_helper import LiveServer

from agent.models import Approval, Decision, Switch
from tests.browser.staff_window import StaffWindow, staff_window
from tests.desk.rows import card_for, charge
from tests.factories import LineFactory, RequestFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def card(transactional_db: None) -> Approval:
    line = LineFactory(quantity=3, unit_price_minor=4300)
    request = RequestFactory(line=line, units=3, amount_minor=12900, status="needs_approval", charged=False)
    charge(request, 12900)
    return card_for(request, amount_minor=12900)


@pytest.fixture
def desk(
    chromium_path: str, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch, card: Approval
) -> Iterator[StaffWindow]:
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    with staff_window(chromium_path, live_server.url) as window:
        window.open_case(card.request)
        yield window


def open_again(desk: StaffWindow, key: str = "a") -> None:
    desk.page.keyboard.press("Escape")
    expect(desk.page.locator("#dialog")).to_be_hidden()
    desk.page.keyboard.press(key)
    expect(desk.page.locator("#dialog")).to_be_visible()


def test_the_button_of_a_dialog_opened_again_names_the_amount_that_is_paid(desk: StaffWindow) -> None:
    page = desk.page
    open_again(desk)
    page.fill("#dialog input[name=amount]", "99.00")
    open_again(desk)
    expect(page.locator("#dialog input[name=amount]")).to_have_value("99.00")
    expect(page.locator("#dialog button[type=submit]")).to_have_text("Refund $99.00")


def test_fewer_units_come_back_with_their_amount_and_are_decided(desk: StaffWindow, card: Approval) -> None:
    page = desk.page
    open_again(desk)
    page.fill("#dialog input[name=units]", "1")
    expect(page.locator("#dialog input[name=amount]")).to_have_value("43.00")
    open_again(desk)
    expect(page.locator("#dialog input[name=units]")).to_have_value("1")
    expect(page.locator("#dialog button[type=submit]")).to_have_text("Refund $43.00")
    page.reload()
    open_again(desk)
    expect(page.locator("#dialog button[type=submit]")).to_have_text("Refund $43.00")
    page.click("#dialog button[type=submit]")
    expect(page.locator("#toast")).to_contain_text("Approved")
    decision = Decision.objects.get()
    assert (decision.units, decision.amount_minor, decision.require_return) == (1, 4300, False)


def test_the_switch_on_the_card_and_the_one_in_its_dialog_are_one(desk: StaffWindow) -> None:
    page = desk.page
    on_card = page.locator(".acts input[name=require_return]")
    in_dialog = page.locator("#dialog input[name=require_return]")
    button = page.locator("#dialog button[type=submit]")
    open_again(desk)
    in_dialog.check()
    expect(on_card).to_be_checked()
    open_again(desk)
    expect(in_dialog).to_be_checked()
    expect(button).to_have_text("Approve after return: $129.00")
    page.keyboard.press("Escape")
    on_card.uncheck()
    open_again(desk)
    expect(in_dialog).not_to_be_checked()
    expect(button).to_have_text("Refund $129.00")
    page.keyboard.press("Escape")
    on_card.check()
    page.reload()
    expect(on_card).to_be_checked()


def test_the_reason_of_a_pause_is_kept_until_it_is_thrown_and_no_longer(desk: StaffWindow) -> None:
    page = desk.page
    page.click(".brake-act")
    page.fill("#dialog input[name=reason]", "Too many carafes")
    page.keyboard.press("Escape")
    page.click(".brake-act")
    expect(page.locator("#dialog input[name=reason]")).to_have_value("Too many carafes")
    page.click("#dialog button[type=submit]")
    expect(page.locator("#toast")).to_contain_text("Automatic refunds are paused.")
    assert Switch.objects.get().reason == "Too many carafes"
    desk.tell_desk()
    for words, button in (("Turn on again", "Turn on again"), ("Pause", "Pause automatic refunds")):
        page.locator(".brake-act", has_text=words).click()
        expect(page.locator("#dialog button[type=submit]")).to_have_text(button)
        expect(page.locator("#dialog input[name=reason]")).to_have_value("")
        if words == "Pause":
            break
        page.click("#dialog button[type=submit]")
        expect(page.locator("#dialog")).to_be_hidden()
        desk.tell_desk()
