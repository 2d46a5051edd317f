"""What stands around every customer page: who did the work, the headers, and the pages of what went wrong."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from intake.models import Photo, RefundRequest
from payments.models import OrderLine
from tests.factories import RequestFactory
from tests.intake.test_api import told

pytestmark = pytest.mark.django_db
NewPhoto = Callable[[User], Photo]
UNKNOWN = "0b9a2c1e-5a53-4a0e-9d0f-2f1f0a6f7c11"
REFUND = "/orders/PH-20388/refund/KTL-09"


def words(answer: Any) -> str:
    return unescape(answer.content.decode())


@pytest.mark.parametrize(("key", "says_so"), [("", True), ("a key", False)])
def test_pages_with_the_agents_work_say_when_the_model_is_scripted(
    priyas_browser: Client, kettle: OrderLine, settings: Any, key: str, says_so: bool
) -> None:
    settings.LLM_API_KEY = key
    request = RequestFactory(line=kettle)
    for path in (f"/requests/{request.uuid}", "/requests"):
        assert ("No language model is connected" in words(priyas_browser.get(path))) is says_so


def test_a_request_says_when_the_scripted_model_stood_in_for_a_model(
    priyas_browser: Client, kettle: OrderLine, settings: Any
) -> None:
    settings.LLM_API_KEY = "a key"
    request = RequestFactory(line=kettle)
    assert "scripted stand-in" not in words(priyas_browser.get(f"/requests/{request.uuid}"))
    told(request, 1, "agent", "Looked up the order", provider="scripted")
    assert "A scripted stand-in, not a language model, did some of" in words(
        priyas_browser.get(f"/requests/{request.uuid}")
    )


def test_with_nobody_to_stand_in_no_page_speaks_of_a_stand_in(
    priyas_browser: Client, kettle: OrderLine, settings: Any
) -> None:
    settings.SCRIPTED_MODEL = "never"
    request = RequestFactory(line=kettle)
    assert "scripted stand-in" not in words(priyas_browser.get(f"/requests/{request.uuid}"))


def test_no_page_holds_inline_script_or_style(priyas_browser: Client, kettle: OrderLine, new_photo: NewPhoto) -> None:
    request = RequestFactory(line=kettle, status="needs_customer")
    paths = ("/", "/requests", f"/requests/{request.uuid}", "/policy", REFUND, "/nothing")
    for path in paths:
        answer = priyas_browser.get(path)
        page = answer.content.decode()
        assert "<style" not in page
        assert " style=" not in page
        assert "onclick" not in page
        assert page.count("<script") == page.count("<script src=")
        assert "default-src 'none'" in answer["Content-Security-Policy"]


def test_missing_pages_are_in_the_shops_look(priyas_browser: Client) -> None:
    answer = priyas_browser.get("/nothing")
    assert answer.status_code == 404
    assert "There is nothing here" in words(answer)


def test_an_error_of_ours_is_in_the_shops_look(priyas_browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    priyas_browser.raise_request_exception = False
    monkeypatch.setattr("intake.views.policy_in_force", lambda: 1 / 0)
    answer = priyas_browser.get("/policy")
    assert answer.status_code == 500
    assert "Something went wrong on our side" in words(answer)


PAGE_BEFORE = "http://testserver/requests?page=1&x=%3C"


@pytest.mark.parametrize("sent_to", ["/sign-out", "/desk/logout/", f"/requests/{UNKNOWN}/answer"])
def test_a_page_that_is_too_old_leads_back_to_where_its_form_stood(priya: User, sent_to: str) -> None:
    old = Client(enforce_csrf_checks=True)
    old.force_login(priya)
    page = words(old.post(sent_to, headers={"Referer": PAGE_BEFORE}))
    assert f'<a class="button primary" href="{PAGE_BEFORE}">Reload the page</a>' in page
    assert "Reload it and try again." in page


@pytest.mark.parametrize("referer", ["", "http://elsewhere.example/requests", "javascript:alert(1)", "//elsewhere"])
def test_without_a_page_of_ours_it_leads_home(priya: User, daniel: User, referer: str) -> None:
    for person, home in ((priya, "Go to your orders"), (daniel, "Go to the desk")):
        old = Client(enforce_csrf_checks=True)
        old.force_login(person)
        page = words(old.post("/sign-out", headers={"Referer": referer}))
        assert f'<a class="button primary" href="/">{home}</a>' in page
        assert "Open it anew and try again." in page
        assert 'href="/sign-out"' not in page
        assert "elsewhere" not in page


def test_a_page_that_is_too_old_is_said_in_the_right_shape(priya: User, kettle: OrderLine) -> None:
    old = Client(enforce_csrf_checks=True)
    old.force_login(priya)
    form = {"reason": "changed_mind", "details": "x"}
    page = old.post(REFUND, form)
    part = old.post(REFUND, form, headers={"HX-Request": "true"})
    script = old.post(REFUND, form, headers={"Accept": "application/json"})
    assert (page.status_code, part.status_code, script.status_code) == (403, 403, 403)
    assert "This page is too old" in words(page)
    assert "<html" not in words(part)
    assert script.json()["error"] == "forbidden"
    assert not RefundRequest.objects.exists()
