"""The customers' pages as a browser without JavaScript sees them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client, override_settings
from django.urls import reverse
from django.utils import timezone

from intake.models import Photo, Question, RefundRequest, Reply, Return
from intake.templatetags.shop import unbroken
from payments.models import OrderLine, Refund
from payments.models.refund import NEEDS_THE_CUSTOMER
from tests.factories import LineFactory, OrderFactory, RefundFactory, RequestFactory
from tests.intake.conftest import picture_file
from tests.intake.test_api import told

pytestmark = pytest.mark.django_db
NewPhoto = Callable[[User], Photo]
REFUND = "/orders/PH-20388/refund/KTL-09"


def words(answer: Any) -> str:
    return unescape(answer.content.decode())


def test_staff_on_the_customers_home_are_sent_to_the_desk(client: Client, daniel: User) -> None:
    client.force_login(daniel)
    assert client.get("/")["Location"] == "/desk/"


def test_a_page_that_is_missing_leads_staff_to_the_desk(priyas_browser: Client, daniel: User) -> None:
    daniels_browser = Client()
    daniels_browser.force_login(daniel)
    told_to = [words(browser.get("/nothing-here")) for browser in (daniels_browser, priyas_browser)]
    assert ["Go to the desk" in page for page in told_to] == [True, False]
    assert [">Orders</a>" in page for page in told_to] == [False, True]


def test_orders_say_for_each_line_what_can_be_done(priyas_browser: Client, kettle: OrderLine) -> None:
    coming = LineFactory(order=kettle.order, sku="MUG-2", delivered_at=None)
    asked = LineFactory(order=kettle.order, sku="FLT-100")
    request = RequestFactory(line=asked, status="needs_customer")
    page = words(priyas_browser.get("/"))
    assert f'href="{REFUND}"' in page
    assert reverse("refund-new", args=["PH-20388", coming.sku]) not in page
    assert "This item has not been delivered yet." in page
    assert f'href="/requests/{request.uuid}"' in page
    assert "We have a question for you" in page


def test_a_delivery_that_is_ahead_is_nowhere_called_delivered(priyas_browser: Client, kettle: OrderLine) -> None:
    OrderLine.objects.update(delivered_at=timezone.now() + timedelta(days=2))
    page = words(priyas_browser.get("/"))
    assert "This item has not been delivered yet." in page
    assert "Delivered" not in page
    assert "· delivered" not in page


def test_only_the_newest_questions_of_a_request_are_read(
    priyas_browser: Client, kettle: OrderLine, daniel: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("intake.request_page.MOST_QUESTIONS", 2)
    request = RequestFactory(line=kettle, status="needs_customer")
    until = timezone.now() + timedelta(days=14)
    for text in ("First?", "Second?", "Third?"):
        Question.objects.create(request=request, text=text, asked_by=daniel, reply_by=until)
    assert "Third?" in words(priyas_browser.get(f"/requests/{request.uuid}"))


def test_no_orders_and_no_requests_say_why(priyas_browser: Client) -> None:
    assert "No orders yet" in words(priyas_browser.get("/"))
    assert "No requests yet" in words(priyas_browser.get("/requests"))


def test_orders_are_given_ten_a_page(priyas_browser: Client, priya: User) -> None:
    for _ in range(11):
        LineFactory(order=OrderFactory(customer=priya))
    first, second = words(priyas_browser.get("/")), words(priyas_browser.get("/?page=2"))
    assert [page.count("<h2 id=") for page in (first, second)] == [10, 1]
    assert 'href="?page=2"' in first
    assert priyas_browser.get("/?page=-5").status_code == priyas_browser.get("/?page=²").status_code == 200


def test_requests_are_given_twenty_a_page(priyas_browser: Client, priya: User) -> None:
    for _ in range(21):
        RequestFactory(line__order__customer=priya)
    assert words(priyas_browser.get("/requests")).count('href="/requests/') == 20
    assert words(priyas_browser.get("/requests?page=2")).count('href="/requests/') == 1


def test_a_refund_is_asked_for_with_a_photo(priyas_browser: Client, kettle: OrderLine) -> None:
    assert "Ask for $129.00 back" in words(priyas_browser.get(REFUND))
    form = {"reason": "damaged", "details": "The spout is bent.", "files": [picture_file(), picture_file()]}
    answer = priyas_browser.post(REFUND, form)
    request = RefundRequest.objects.get()
    assert answer["Location"] == f"/requests/{request.uuid}"
    assert (request.source, request.details, request.photos.count()) == ("page", "The spout is bent.", 2)


def test_units_are_chosen_with_their_price(priyas_browser: Client, kettle: OrderLine) -> None:
    LineFactory(order=kettle.order, sku="FLT-100", quantity=2, unit_price_minor=900)
    page = words(priyas_browser.get("/orders/PH-20388/refund/FLT-100"))
    assert '<option value="2" selected>2 units · $18.00</option>' in page
    form = {"reason": "changed_mind", "details": "Too many.", "units": "1"}
    priyas_browser.post("/orders/PH-20388/refund/FLT-100", form)
    assert RefundRequest.objects.get().amount_minor == 900


def test_an_error_keeps_text_reason_and_photos(priyas_browser: Client, kettle: OrderLine, new_photo: NewPhoto) -> None:
    earlier = new_photo(kettle.order.customer)
    form = {"reason": "damaged", "details": "", "photo": str(earlier.pk), "files": picture_file()}
    answer = priyas_browser.post(REFUND, form)
    page = words(answer)
    assert answer.status_code == 400
    assert "Tell us in a sentence or two what is wrong." in page
    assert page.count('<input type="hidden" name="photo"') == Photo.objects.count() == 2
    assert 'value="damaged"' in page.split("checked")[0].rsplit("<input", 1)[1]
    assert not RefundRequest.objects.exists()


def test_a_fault_without_a_photo_is_asked_for_one(priyas_browser: Client, kettle: OrderLine) -> None:
    answer = priyas_browser.post(REFUND, {"reason": "damaged", "details": "Bent."})
    assert answer.status_code == 422
    assert "Add at least one photo that shows what is wrong." in words(answer)
    assert "\nBent.</textarea>" in words(answer)


def test_removing_a_photo_keeps_the_rest_and_submits_nothing(
    priyas_browser: Client, kettle: OrderLine, new_photo: NewPhoto
) -> None:
    one, two = new_photo(kettle.order.customer), new_photo(kettle.order.customer)
    form = {"reason": "damaged", "details": "Bent.", "photo": [one.pk, two.pk], "remove": str(one.pk)}
    answer = priyas_browser.post(REFUND, form)
    assert answer.status_code == 200
    assert f'value="{two.pk}"' in words(answer)
    assert f'value="{one.pk}"' not in words(answer)
    assert "\nBent.</textarea>" in words(answer)
    assert not RefundRequest.objects.exists()


def test_a_sixth_photo_is_left_out_and_said(priyas_browser: Client, kettle: OrderLine) -> None:
    form = {"reason": "damaged", "details": "Bent.", "files": [picture_file() for _ in range(6)]}
    answer = priyas_browser.post(REFUND, form)
    assert "At most 5 photos fit; the others were left out." in words(answer)
    assert Photo.objects.count() == 5


def test_a_line_that_was_asked_for_links_to_its_request(priyas_browser: Client, kettle: OrderLine) -> None:
    request = RequestFactory(line=kettle)
    asked, sent = priyas_browser.get(REFUND), priyas_browser.post(REFUND, {"reason": "damaged", "details": "<Bent>."})
    assert "What you wrote" not in words(asked).split("<template")[0]
    assert b"readonly>&lt;Bent&gt;.</textarea>" in sent.content
    for answer in (asked, sent):
        assert answer.status_code == 409
        assert f'href="/requests/{request.uuid}"' in words(answer)
    assert RefundRequest.objects.count() == 1


@override_settings(REQUESTS_PER_DAY=1)
def test_the_days_limit_is_said_on_the_form(priyas_browser: Client, kettle: OrderLine, priya: User) -> None:
    RequestFactory(line__order__customer=priya)
    answer = priyas_browser.post(REFUND, {"reason": "changed_mind", "details": "x"})
    assert answer.status_code == 429
    assert "You have sent 1 requests within a day." in words(answer)


def test_a_request_page_tells_where_it_stands(priyas_browser: Client, kettle: OrderLine, daniel: User) -> None:
    request = RequestFactory(line=kettle, status="needs_approval")
    told(request, 1, "customer", "You asked for a refund", detail="The <b>spout</b>", for_customer=True)
    told(request, 2, "agent", "limit: above the limit", for_customer=False)
    told(request, 3, "staff", "We look into it", for_customer=True, actor_user=daniel)
    page = priyas_browser.get(f"/requests/{request.uuid}").content.decode()
    assert "A person in our team is looking at your request" in page
    assert "What happens next:</b> you read our answer on this page by <b><time" in page
    assert "$129.00 to your Visa ending 4242" in page
    assert page.index("We look into it") < page.index("You asked for a refund"), "newest first"
    assert "The &lt;b&gt;spout&lt;/b&gt;" in page
    assert "above the limit" not in page
    assert "Daniel" not in page


def test_a_question_is_answered_on_the_page(priyas_browser: Client, kettle: OrderLine, daniel: User) -> None:
    request = RequestFactory(line=kettle, status="needs_customer")
    until = timezone.now() + timedelta(days=14)
    Question.objects.create(request=request, text="Does it tip over?", asked_by=daniel, reply_by=until)
    address = f"/requests/{request.uuid}/answer"
    assert "Does it tip over?" in words(priyas_browser.get(f"/requests/{request.uuid}"))
    empty = priyas_browser.post(address, {"message": "", "files": picture_file()})
    assert "Write your answer first." in words(empty)
    assert words(empty).count('<input type="hidden" name="photo"') == 1
    photo = Photo.objects.get()
    done = priyas_browser.post(address, {"message": "Yes.", "photo": photo.pk})
    reply = Reply.objects.get()
    assert done["Location"] == f"/requests/{request.uuid}"
    assert (reply.message, reply.source, list(reply.photos.all())) == ("Yes.", "page", [photo])
    late = priyas_browser.post(address, {"message": "Again."})
    assert late.status_code == 409
    assert "waits for no answer" in words(late)
    assert "readonly>Again.</textarea>" in words(late)
    assert Reply.objects.count() == 1


def test_an_answer_that_is_refused_keeps_its_text(priyas_browser: Client, kettle: OrderLine, daniel: User) -> None:
    request = RequestFactory(line=kettle, status="needs_customer")
    until = timezone.now() + timedelta(days=14)
    Question.objects.create(request=request, text="And?", asked_by=daniel, reply_by=until)
    form = {"message": "Still blank.", "files": [picture_file() for _ in range(6)]}
    page = words(priyas_browser.post(f"/requests/{request.uuid}/answer", form))
    assert "\nStill blank.</textarea>" in page
    assert not Reply.objects.exists()


def test_a_return_shows_code_address_and_days(priyas_browser: Client, kettle: OrderLine) -> None:
    request = RequestFactory(line=kettle, status="awaiting_return")
    soon = timezone.now() + timedelta(days=7)
    Return.objects.create(request=request, code="RMA-7KQ2MX", amount_minor=12_900, ship_by=soon, check_at=soon)
    page = words(priyas_browser.get(f"/requests/{request.uuid}"))
    for part in ("RMA-7KQ2MX", "1200 Harbor Way, Unit 4", "Ship it by", 'data-copy="return-code"'):
        assert part in page


def test_the_policy_page_fills_in_the_numbers_in_force(client: Client, policy: object) -> None:
    page = words(client.get("/policy"))
    assert "$50.00" in page
    assert "30 days" in page
    assert "{" not in page.split("<main", 1)[1].split("</main>")[0]


def test_a_refund_that_needs_an_answer_says_so_on_every_page(priyas_browser: Client, kettle: OrderLine) -> None:
    request = RequestFactory(line=kettle, status="refunding")
    charge = kettle.order.charges.get()
    refund = RefundFactory(charge=charge, request_uuid=request.uuid, amount_minor=12900, status="pending")
    lists = ("/requests", "/")
    assert ["Waits for your answer" in words(priyas_browser.get(page)) for page in lists] == [False, False]
    Refund.objects.filter(pk=refund.pk).update(pending_reason=NEEDS_THE_CUSTOMER)
    assert ["Waits for your answer" in words(priyas_browser.get(page)) for page in lists] == [True, True]
    assert "Your refund needs your answer" in words(priyas_browser.get("/"))
    page = words(priyas_browser.get(f"/requests/{request.uuid}"))
    assert '<p class="sub">$129.00</p>' in page  # it cannot go to the card
    assert "Your refund of $129.00 needs your answer" in page


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Ceramic pour-over dripper", 'Ceramic <span class="unbroken">pour-over</span> dripper'),
        ("<b>-x & y-z", '&lt;b&gt;-x &amp; <span class="unbroken">y-z</span>'),
        ("a-word-too-long-for-a-line", "a-word-too-long-for-a-line"),
        ("No hyphen", "No hyphen"),
    ],
)
def test_a_word_with_a_hyphen_stays_whole_and_is_escaped(text: str, shown: str) -> None:
    assert unbroken(text) == shown
