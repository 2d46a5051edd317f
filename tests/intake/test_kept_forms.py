"""What the customers' forms say to the scripts that keep their content, and which button Enter presses."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from intake.models import Photo, Question, RefundRequest, Return
from intake.request_news import news_for_customer
from payments.models import OrderLine
from tests.factories import RequestFactory

pytestmark = pytest.mark.django_db
NewPhoto = Callable[[User], Photo]
REFUND = "/orders/PH-20388/refund/KTL-09"
REFUND_DRAFT = "refund:PH-20388:KTL-09:"


def asked(request: RefundRequest, staff: User, text: str = "And?") -> Question:
    until = timezone.now() + timedelta(days=14)
    return Question.objects.create(request=request, text=text, asked_by=staff, reply_by=until)


def submit_buttons(answer: Any) -> list[str]:
    """The tags of the buttons that send the page's kept form, in its order."""
    form = answer.content.decode().split("data-draft=", 1)[1].split("</form>")[0]
    return [tag for tag in re.findall("<button[^>]*>", form) if 'type="submit"' in tag]


def drafts(answer: Any) -> list[str]:
    return re.findall(r'data-draft="([^"]*)"', answer.content.decode())


def test_enter_presses_the_button_that_sends_however_many_photos_can_be_removed(
    priyas_browser: Client, kettle: OrderLine, daniel: User, new_photo: NewPhoto
) -> None:
    photo = {"photo": str(new_photo(kettle.order.customer).pk)}
    asking = submit_buttons(priyas_browser.post(REFUND, photo))
    request = RequestFactory(line=kettle, status="needs_customer")
    asked(request, daniel)
    answering = submit_buttons(priyas_browser.post(f"/requests/{request.uuid}/answer", photo))
    for buttons in (asking, answering):
        assert ['name="remove"' in button for button in buttons] == [False, True, False]
        assert ['aria-hidden="true"' in button for button in buttons] == [True, False, False]
        assert 'tabindex="-1"' in buttons[0]


def test_the_draft_of_an_answer_belongs_to_its_question(
    priyas_browser: Client, kettle: OrderLine, daniel: User
) -> None:
    request = RequestFactory(line=kettle, status="needs_customer")
    first = asked(request, daniel)
    page = priyas_browser.get(f"/requests/{request.uuid}")
    assert drafts(page) == [f"answer:{request.uuid}:{first.pk}:"]
    assert f'data-unsent="answer:{request.uuid}:" data-arrived="{REFUND_DRAFT}"' in page.content.decode()
    Question.objects.update(withdrawn_at=timezone.now())
    second = asked(request, daniel)
    assert drafts(priyas_browser.get(f"/requests/{request.uuid}")) == [f"answer:{request.uuid}:{second.pk}:"]


def test_a_form_that_came_back_from_the_server_says_so(priyas_browser: Client, kettle: OrderLine) -> None:
    fresh, refused = priyas_browser.get(REFUND), priyas_browser.post(REFUND, {"reason": "damaged"})
    assert drafts(fresh) == drafts(refused) == [REFUND_DRAFT]
    assert ["data-came-back" in answer.content.decode() for answer in (fresh, refused)] == [False, True]


def test_a_refund_that_cannot_be_asked_for_any_more_shows_the_text_that_is_kept_for_it(
    priyas_browser: Client, kettle: OrderLine
) -> None:
    RequestFactory(line=kettle)
    page = priyas_browser.get(REFUND).content.decode()
    assert f'<template data-unsent="{REFUND_DRAFT}"><div' in page
    assert "intake/form.js" in page


def test_the_sign_in_page_says_that_what_was_sent_did_not_arrive(client: Client, db: None) -> None:
    page = client.get(f"/sign-in?next={REFUND}").content.decode()
    assert "data-nothing-arrived" in page
    assert "intake/form.js" in page


def test_a_new_question_is_announced_with_a_way_to_it_if_its_form_cannot_be_fetched(
    kettle: OrderLine, daniel: User
) -> None:
    request = RequestFactory(line=kettle, status="needs_customer")
    question = asked(request, daniel)
    place = next(part.html for part in news_for_customer(request, 0).fragments if part.id == "to-do")
    assert f'data-keep="{question.pk}" data-fetch="/requests/{request.uuid}/answer"' in place
    assert "data-late hidden>Our question could not be loaded yet." in place
    assert f'<a href="/requests/{request.uuid}">load the page again</a>' in place


def test_nothing_in_the_status_panel_waits_for_a_script_to_show_it(priyas_browser: Client, kettle: OrderLine) -> None:
    """A script that changed it would make every later copy of it look new, to be read out again."""
    request = RequestFactory(line=kettle, status="awaiting_return")
    soon = timezone.now() + timedelta(days=7)
    Return.objects.create(request=request, code="RMA-7KQ2MX", amount_minor=12_900, ship_by=soon, check_at=soon)
    page = priyas_browser.get(f"/requests/{request.uuid}").content.decode()
    panel = page.split('<div id="standing">', 1)[1].split('<div id="to-do">')[0]
    assert '<button class="button small" type="button" id="copy-code" data-copy="return-code">' in panel
    assert " hidden" not in panel
