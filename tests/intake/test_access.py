"""Customer B walks the ids of customer A: every door answers as if there were nothing (field case a01)."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from intake.models import Photo, Question, RefundRequest, Reply
from payments.models import OrderLine
from tests.factories import LineFactory, OrderFactory, RequestFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def aikos_browser(aiko: User) -> Client:
    browser = Client()
    browser.force_login(aiko)
    return browser


@pytest.fixture
def asked(kettle: OrderLine, daniel: User) -> RefundRequest:
    request = RefundRequest.objects.get(pk=RequestFactory(line=kettle, status="needs_customer").pk)
    until = timezone.now() + timedelta(days=14)
    Question.objects.create(request=request, text="Does it tip over?", asked_by=daniel, reply_by=until)
    return request


def test_pages_of_someone_elses_request_are_missing(aikos_browser: Client, asked: RefundRequest) -> None:
    for path in ("/requests/{}", "/requests/{}/news", "/requests/{}/answer"):
        answers = [
            aikos_browser.get(path.format(given))
            for given in (asked.uuid, uuid.uuid4(), asked.number, asked.pk, "x" * 300)
        ]
        assert {answer.status_code for answer in answers} == {404}
        assert len({plain(answer.content) for answer in answers}) == 1


def test_someone_elses_question_takes_no_answer(aikos_browser: Client, asked: RefundRequest) -> None:
    theirs = aikos_browser.post(f"/requests/{asked.uuid}/answer", {"message": "Yes."})
    missing = aikos_browser.post(f"/requests/{uuid.uuid4()}/answer", {"message": "Yes."})
    assert theirs.status_code == missing.status_code == 404
    assert plain(theirs.content) == plain(missing.content)
    assert not Reply.objects.exists()


def test_someone_elses_order_has_no_refund_form(aikos_browser: Client, kettle: OrderLine) -> None:
    form = {"reason": "changed_mind", "details": "Mine now."}
    for path in ("/orders/PH-20388/refund/KTL-09", "/orders/PH-1/refund/KTL-09"):
        assert aikos_browser.get(path).status_code == 404
        assert aikos_browser.post(path, form).status_code == 404
    assert not RefundRequest.objects.exists()


def test_someone_elses_photo_is_missing(
    aikos_browser: Client, kettle: OrderLine, new_photo: Callable[[User], Photo]
) -> None:
    photo = new_photo(kettle.order.customer)
    answers = [aikos_browser.get(f"/photos/{given}") for given in (photo.pk, uuid.uuid4(), "1", "../secret")]
    assert {answer.status_code for answer in answers} == {404}
    assert len({plain(answer.content) for answer in answers}) == 1


def test_someone_elses_photo_is_left_out_of_a_form(
    aikos_browser: Client, aiko: User, kettle: OrderLine, new_photo: Callable[[User], Photo]
) -> None:
    photo = new_photo(kettle.order.customer)
    own = LineFactory(order=OrderFactory(customer=aiko))
    path = f"/orders/{own.order.number}/refund/{own.sku}"
    answer = aikos_browser.post(path, {"reason": "damaged", "details": "Bent.", "photo": str(photo.pk)})
    assert answer.status_code == 400
    assert str(photo.pk) not in answer.content.decode()
    assert not RefundRequest.objects.exists()


def test_lists_hold_ones_own_things_only(aikos_browser: Client, asked: RefundRequest) -> None:
    for path in ("/", "/requests"):
        page = aikos_browser.get(path).content.decode()
        assert "PH-20388" not in page
        assert str(asked.uuid) not in page


def plain(page: bytes) -> str:
    """The page without the token that differs every time."""
    text = page.decode()
    parts = text.split('name="csrfmiddlewaretoken" value="')
    return parts[0] + "".join(part.split('"', 1)[1] for part in parts[1:])
