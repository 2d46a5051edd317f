"""What an act has done is said on the page it leads to, and on no later one."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from tests.desk.rows import card_for, kettle_request

pytestmark = pytest.mark.django_db
TOAST = re.compile(r'<div id="toast"[^>]*>(.*?)</div>', re.DOTALL)


def toast_of(page: str) -> str:
    found = TOAST.findall(page)
    assert len(found) == 1
    return str(found[0]).strip()


def test_a_copy_is_announced_on_its_page_and_not_on_the_next_one(lead: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.evaluation.run_again.ring", lambda evaluation_id: True)
    request = kettle_request()
    card_for(request)
    its_page = lead.post(f"/desk/requests/{request.uuid}/again", {}, follow=True)
    assert toast_of(its_page.content.decode()) == "A copy of the case is being played. No money moves."
    assert toast_of(lead.get("/desk/queue/needs-approval/").content.decode()) == ""


def test_an_act_without_javascript_is_told_on_the_request_it_was_about(lead: Client) -> None:
    card = card_for(kettle_request())
    address = f"/desk/requests/{card.request.uuid}/decide"
    page = lead.post(address, {"card": card.pk, "choice": "decline", "note": "No."}, follow=True)
    assert toast_of(page.content.decode()) == "Declined. The agent tells the customer."


@pytest.mark.parametrize("address", ["/desk/models/", "/desk/evaluations/", "/desk/queue/all/", "/desk/pause"])
def test_each_page_of_the_desk_has_one_place_for_it(lead: Client, address: str) -> None:
    assert toast_of(lead.get(address).content.decode()) == ""
