"""Staff without the right to see requests read none of them, through whichever door."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from agent.models import Approval, Decision
from intake.models import RefundRequest
from tests.desk.rows import card_for, kettle_request
from tests.factories import StaffFactory

SENTENCE = "Your account may not see refund requests."
PAGES = ["queue/needs-approval/", "queue/all/{}/", "requests/{}/", "requests/{}/card", "requests/{}/steps", "counts"]


@pytest.fixture
def request_(db: None) -> RefundRequest:
    return kettle_request()


@pytest.fixture
def stock_keeper(db: None) -> User:
    return StaffFactory(permissions=["payments.view_order", "agent.add_decision"])


@pytest.mark.parametrize("page", [*PAGES, "requests/{}/decide?choice=approve"])
def test_a_page_is_refused_with_a_sentence(request_: RefundRequest, stock_keeper: User, page: str) -> None:
    client = Client()
    client.force_login(stock_keeper)
    answer = client.get(f"/desk/{page.format(request_.uuid)}")
    text = answer.content.decode()
    assert (answer.status_code, SENTENCE in text, "Priya" in text) == (403, True, False)


def test_the_api_is_refused_before_its_body_is_read(request_: RefundRequest, stock_keeper: User) -> None:
    card = card_for(request_)
    client = APIClient()
    client.force_authenticate(stock_keeper)
    for answer in (
        client.get("/api/v1/queue/needs-approval"),
        client.get(f"/api/v1/approvals/{card.pk}"),
        client.post(f"/api/v1/approvals/{card.pk}/decision", {"decision": "?"}, format="json"),
    ):
        body = answer.json()
        assert (answer.status_code, body["error"], SENTENCE in body["message"]) == (403, "forbidden", True)
    assert Decision.objects.count() == 0


def test_an_unknown_card_is_told_before_a_wrong_body(daniel: User) -> None:
    client = APIClient()
    client.force_authenticate(daniel)
    missing = "00000000-0000-0000-0000-000000000000"
    answer = client.post(f"/api/v1/approvals/{missing}/decision", {"decision": "?"}, format="json")
    assert (answer.status_code, answer.json()["error"]) == (404, "approval_not_found")
    answer = client.post(f"/api/v1/requests/{missing}/receipts", {"units": "?"}, format="json")
    assert (answer.status_code, answer.json()["error"]) == (404, "request_not_found")


def test_help_is_tied_to_its_field_and_cancel_leads_back(lead: Client, request_: RefundRequest) -> None:
    card: Approval = card_for(request_)
    page = lead.get(f"/desk/requests/{request_.uuid}/decide?choice=approve&card={card.pk}").content.decode()
    assert 'aria-describedby="id_amount_helptext"' in page
    assert 'id="id_amount_helptext">At most $129.00<' in page
    assert f'<a class="button ghost" href="/desk/requests/{request_.uuid}/">Cancel</a>' in page
