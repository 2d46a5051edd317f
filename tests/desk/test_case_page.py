"""What the open request shows, and to whom."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.test import Client
from django.utils import timezone
from django.utils.html import strip_tags

from agent.models import Decision
from intake.models import Photo, Question, RefundRequest, Reply, Return
from payments.models import Refund
from payments.models.refund import NEEDS_THE_CUSTOMER
from tests.desk.rows import card_for, kettle_request, step_of
from tests.factories import RefundFactory

HTMX = {"HX-Request": "true"}


def page_of(client: Client, request: RefundRequest, slug: str = "all") -> str:
    answer = client.get(f"/desk/queue/{slug}/{request.uuid}/")
    assert answer.status_code == 200
    return answer.content.decode()


def given_back_by_hand(request: RefundRequest, **changes: Any) -> Refund:
    given = {"amount_minor": 12900, "status": "succeeded", "key": "external_1"} | changes
    return RefundFactory(charge=request.line.order.charges.get(), request_uuid=None, **given)


def photo_of(customer: User, **of: object) -> Photo:
    photo = Photo(owner=customer, digest="d", width=1200, height=900, **of)
    photo.file.save("x.jpg", ContentFile(b"jpeg"))
    return photo


def test_it_shows_what_the_customer_says_with_the_photo(lead: Client) -> None:
    request = kettle_request(details="It leaks.\n<script>alert(1)</script>")
    photo = photo_of(request.customer, request=request)
    page = page_of(lead, request)
    assert "It leaks.<br>&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert f'href="/photos/{photo.pk}"' in page
    assert "1 photo · click to enlarge" in page
    assert "Gooseneck kettle, 0.9 L" in page
    assert "Delivered 5 days ago" in page
    assert "$129.00" in page


def test_a_card_names_its_recommendation_and_why(lead: Client) -> None:
    request = kettle_request()
    card_for(request, reasoning="Clear damage.")
    page = page_of(lead, request)
    assert "The agent recommends: refund $129.00" in page
    assert "Clear damage." in page


def test_a_manual_review_asks_for_a_person_without_a_recommendation(lead: Client) -> None:
    request = kettle_request()
    card_for(request, recommendation="manual_review")
    assert "Needs a look by a person" in page_of(lead, request)


def test_refund_after_return_starts_with_the_return_required(lead: Client) -> None:
    request = kettle_request()
    card_for(request, recommendation="refund_after_return", require_return=True)
    assert re.search(r'name="require_return" value="on" checked', page_of(lead, request))


def test_earlier_decisions_are_listed_with_who_and_why(lead: Client, daniel: User) -> None:
    request = kettle_request("declined")
    card = card_for(request, closed_at=timezone.now())
    Decision.objects.create(
        approval=card, choice="decline", note="A replacement was sent.", decided_by=daniel, source="desk"
    )
    page = page_of(lead, request)
    assert "Earlier decisions" in page
    assert "<b>Daniel Reyes</b> declined" in page
    assert "A replacement was sent." in page


def test_questions_and_answers_stand_with_their_photos(lead: Client, daniel: User) -> None:
    request = kettle_request()
    card_for(request)
    question = Question.objects.create(request=request, text="Does it leak?", asked_by=daniel, reply_by=timezone.now())
    reply = Reply.objects.create(question=question, message="A little.", source="page")
    photo = photo_of(request.customer, reply=reply)
    page = page_of(lead, request)
    assert "Does it leak?" in page
    assert "Priya answered" in page
    assert f'href="/photos/{photo.pk}"' in page


def test_a_return_shows_its_code_and_can_be_received_once_allowed(lead: Client, looking: Client) -> None:
    request = kettle_request("awaiting_return")
    soon = timezone.now() + timedelta(days=7)
    Return.objects.create(request=request, code="RMA-ABCDEF", amount_minor=12900, ship_by=soon, check_at=soon)
    page = page_of(lead, request)
    assert "RMA-ABCDEF" in page
    assert "Mark as received" in page
    assert "Take back" in page
    assert "Mark as received" not in page_of(looking, request)
    assert "Take back" not in page_of(looking, request)


def test_a_refunded_request_names_card_and_reference(lead: Client) -> None:
    request = kettle_request("refunded")
    refund = RefundFactory(
        charge=request.line.order.charges.get(),
        request_uuid=request.uuid,
        amount_minor=12900,
        status="succeeded",
        automatic=True,
    )
    page = page_of(lead, request)
    assert "Refunded $129.00 to Visa 4242" in page
    assert "By the agent, no person needed" in page
    assert refund.reference in page


def bank_said(client: Client, request: RefundRequest, **refund: Any) -> str:
    RefundFactory(charge=request.line.order.charges.get(), request_uuid=request.uuid, amount_minor=12900, **refund)
    page = page_of(client, request)
    found = re.search(r'<section class="card bank".*?</section>', page, re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", found[0]).split()) if found else ""


@pytest.mark.parametrize(
    ("reason", "words"), [("the card has expired", "the card has expired"), ("", "no reason given")]
)
def test_a_failed_refund_shows_the_reason_wherever_the_request_stands(lead: Client, reason: str, words: str) -> None:
    said = bank_said(lead, kettle_request("declined"), status="failed", failure_reason=reason)
    assert said.startswith(f"Refunds that are not through failed $129.00 to Visa 4242: {words}")


def test_a_refund_that_waits_shows_why(lead: Client) -> None:
    request = kettle_request("refunding")
    RefundFactory(
        charge=request.line.order.charges.get(),
        request_uuid=request.uuid,
        amount_minor=12900,
        status="pending",
        pending_reason="the provider is <working> on it",
    )
    page = page_of(lead, request)
    assert "The bank says: the provider is &lt;working&gt; on it." in page
    assert "Refunds that are not through" not in page  # it stands above already


def test_a_refund_that_waits_although_the_request_went_on_is_told(lead: Client) -> None:
    said = bank_said(lead, kettle_request("needs_approval"), status="pending", pending_reason="too little money there")
    assert said.startswith("Refunds that are not through waits $129.00 to Visa 4242: too little money there")


def test_a_refund_without_trouble_needs_no_word_of_the_bank(lead: Client) -> None:
    assert bank_said(lead, kettle_request("refunded"), status="succeeded") == ""


@pytest.mark.parametrize("status", ["submitted", "working", "refunding", "needs_customer", "awaiting_return", "closed"])
def test_every_status_has_its_page_even_with_rows_missing(lead: Client, status: str) -> None:
    page_of(lead, kettle_request(status))


def test_htmx_gets_only_the_part_it_asks_for(lead: Client) -> None:
    request = kettle_request()
    card_for(request)
    address = f"/desk/queue/needs-approval/{request.uuid}/"
    case = lead.get(address, headers={**HTMX, "HX-Target": "case"}).content.decode()
    rows = lead.get("/desk/queue/needs-approval/", headers={**HTMX, "HX-Target": "rows"}).content.decode()
    title = f"<title>{request} Gooseneck kettle, 0.9 L · Pourhaven Desk</title>"
    assert case.lstrip().startswith(f'{title}\n<main class="case" id="case"')
    assert rows.lstrip().startswith('<div id="rows"')
    assert "<html" not in case + rows


def test_a_request_that_is_not_there_is_not_found(lead: Client) -> None:
    missing = "00000000-0000-0000-0000-000000000000"
    for address in (
        f"/desk/queue/all/{missing}/",
        f"/desk/requests/{missing}/",
        f"/desk/requests/{missing}/card",
        f"/desk/requests/{missing}/steps",
        f"/desk/requests/{missing}/receive",
    ):
        assert lead.get(address).status_code == 404


def test_a_customer_is_sent_to_sign_in(db: None) -> None:
    request = kettle_request()
    client = Client()
    client.force_login(request.customer)
    for address in ("/desk/", f"/desk/queue/all/{request.uuid}/", "/desk/counts", "/desk/payments/order/"):
        assert client.get(address).headers["Location"].startswith("/desk/login/")


def test_the_page_says_that_the_scripted_model_works(lead: Client) -> None:
    assert "Scripted model in use" in page_of(lead, kettle_request())


def test_the_page_says_nothing_of_it_with_a_key(lead: Client, settings: object) -> None:
    settings.LLM_API_KEY = "sk-test"  # type: ignore[attr-defined]
    assert "Scripted model in use" not in page_of(lead, kettle_request())


def test_no_inline_style_and_no_inline_script(lead: Client) -> None:
    request = kettle_request()
    card_for(request)
    step_of(request, "Looked up the order", arguments={"a": 1}, result={"b": "</pre><script>alert(1)</script>"})
    for page in (page_of(lead, request), lead.get("/desk/payments/order/").content.decode()):
        assert not re.search(r"\sstyle=", page)
        assert not re.search(r"<style|\son\w+=", page)
        assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", page))
        assert '"allowEval": false' in page or "desk-admin" in page


@pytest.mark.parametrize("status", ["needs_approval", "declined", "refunded", "closed"])
def test_a_parcel_nobody_waits_for_any_more_can_still_be_recorded(support: Client, status: str) -> None:
    request = kettle_request(status)
    if status == "needs_approval":
        card_for(request)
    address = f'href="/desk/requests/{request.uuid}/receive"'
    assert address not in page_of(support, request)
    now = timezone.now()
    Return.objects.create(
        request=request, code="RMA-7KQ2MX", amount_minor=12_900, ship_by=now, check_at=now, status="withdrawn"
    )
    assert address in page_of(support, request)
    Return.objects.update(status="received")
    assert address not in page_of(support, request)


def test_money_given_back_outside_the_desk_stands_above_the_buttons(lead: Client) -> None:
    request = kettle_request()
    card_for(request)
    made = datetime(timezone.now().year, 1, 2, 12, tzinfo=UTC)
    given_back_by_hand(request, reserved_at=made, provider_reference="re_3Q")
    given_back_by_hand(request, status="pending", amount_minor=500, key="external_2")
    page = page_of(lead, request)
    words = re.sub(r"\s+", " ", strip_tags(page))
    assert (
        "$129.00 was given back on this order outside this desk on January 2, reference re_3Q, by hand at the provider."
    ) in words
    assert "$5.00 is on its way back on this order" in words
    assert page.index("outside this desk") < page.index('value="approve"')


def test_refunds_of_requests_and_failed_ones_are_not_said_to_be_made_elsewhere(lead: Client) -> None:
    request = kettle_request()
    card_for(request)
    given_back_by_hand(request, status="failed")
    RefundFactory(charge=request.line.order.charges.get(), amount_minor=100, status="succeeded")
    assert "outside this desk" not in page_of(lead, request)


def test_a_refund_that_waits_for_the_customer_says_who_has_to_do_what(lead: Client) -> None:
    request = kettle_request("refunding")
    charge, given = request.line.order.charges.get(), {"amount_minor": 12900, "status": "pending"}
    RefundFactory(charge=charge, request_uuid=request.uuid, pending_reason=NEEDS_THE_CUSTOMER, **given)
    page = page_of(lead, request)
    assert "$129.00 waits for Priya’s answer to the provider" in page
    assert '<span class="chip customer">Refund waits for customer</span>' in page
    assert "Nothing to do here" not in page


@pytest.mark.parametrize(
    ("status", "news", "words"),
    [
        ("working", {}, "The agent carries out the decision"),
        ("working", {"carried_out_at": "now"}, "The agent is at work"),
        ("working", {"set_aside_at": "now"}, "The agent is at work"),
        ("submitted", {}, "The agent starts in a moment"),
    ],
)
def test_a_decision_is_carried_out_only_until_it_was(
    lead: Client, daniel: User, status: str, news: dict[str, str], words: str
) -> None:
    """An answered question is an earlier decision: what works then is the agent's review of the answer."""
    request = kettle_request(status)
    card = card_for(request, closed_at=timezone.now())
    Decision.objects.create(approval=card, choice="ask_customer", note="Since when?", decided_by=daniel, source="desk")
    Decision.objects.update(**dict.fromkeys(news, timezone.now()))
    shown = re.search(r'<h3 id="state-title">(.*?)</h3>', page_of(lead, request))
    assert shown is not None
    assert shown[1] == words


def test_a_whole_page_has_one_title(lead: Client) -> None:
    page = page_of(lead, kettle_request())
    assert page.count("<title>") == 1
    assert "<title>" in page.split("</head>")[0]
