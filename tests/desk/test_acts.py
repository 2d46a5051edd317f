"""Marking as received, taking back, and the brake, through the desk's pages."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from agent.models import Approval, BudgetDay, Switch, SwitchThrow
from intake.models import Question, Receipt, RefundRequest, Return
from tests.desk.rows import kettle_request

HTMX = {"HX-Request": "true"}


def returning(units: int = 1) -> RefundRequest:
    request = kettle_request("awaiting_return")
    request.line.quantity = units
    request.line.save()
    request.units = units
    request.save()
    soon = timezone.now() + timedelta(days=7)
    Return.objects.create(request=request, code="RMA-ABCDEF", amount_minor=12900, ship_by=soon, check_at=soon)
    return request


def test_received_is_recorded_with_who_and_how_many(support: Client, daniel: User) -> None:
    request = returning(units=3)
    address = f"/desk/requests/{request.uuid}/receive"
    assert 'value="3"' in support.get(address, headers=HTMX).content.decode()
    assert support.post(address, {"units": "2"}, headers=HTMX).status_code == 204
    receipt = Receipt.objects.get()
    assert (receipt.units, receipt.recorded_by, receipt.parcel.status) == (2, daniel, "received")


def test_of_a_return_for_fewer_units_those_are_filled_in_and_more_may_be_entered(support: Client) -> None:
    request = returning(units=3)
    Return.objects.update(units=2, amount_minor=8600)
    address = f"/desk/requests/{request.uuid}/receive"
    page = support.get(address, headers=HTMX).content.decode()
    assert 'value="2"' in page
    assert "$86.00 was agreed for 2 of 3" in page
    assert support.post(address, {"units": "3"}, headers=HTMX).status_code == 204
    assert Receipt.objects.get().units == 3


@pytest.mark.parametrize(("units", "said"), [(3, True), (1, False)])
def test_who_records_a_part_reads_that_the_rest_cannot_follow(support: Client, units: int, said: bool) -> None:
    page = support.get(f"/desk/requests/{returning(units).uuid}/receive", headers=HTMX).content.decode()
    assert ("What comes later cannot be recorded here: decide it by hand." in page) is said


def test_a_wrong_count_is_refused(support: Client) -> None:
    request = returning()
    for units in ("0", "2", "x", ""):
        answer = support.post(f"/desk/requests/{request.uuid}/receive", {"units": units}, headers=HTMX)
        assert answer.status_code == 400
    assert not Receipt.objects.exists()


def test_receiving_twice_says_that_nothing_waits(support: Client) -> None:
    address = f"/desk/requests/{returning().uuid}/receive"
    support.post(address, {"units": "1"}, headers=HTMX)
    answer = support.post(address, {"units": "1"}, headers=HTMX)
    assert (answer.status_code, "waits for no parcel" in answer.content.decode()) == (409, True)
    assert Receipt.objects.count() == 1


def test_receiving_needs_the_permission(looking: Client) -> None:
    answer = looking.post(f"/desk/requests/{returning().uuid}/receive", {"units": "1"}, headers=HTMX)
    assert (answer.status_code, Receipt.objects.count()) == (403, 0)


def test_a_waiting_request_is_taken_back_with_a_new_card(support: Client, daniel: User) -> None:
    request = kettle_request("needs_customer")
    Question.objects.create(request=request, text="?", asked_by=daniel, reply_by=timezone.now())
    address = f"/desk/requests/{request.uuid}/take-back"
    assert "The open question is withdrawn." in support.get(address, headers=HTMX).content.decode()
    assert support.post(address, headers=HTMX).status_code == 204
    request.refresh_from_db()
    assert (request.status, Approval.objects.filter(request=request, closed_at=None).count()) == ("needs_approval", 1)
    assert Question.objects.get().withdrawn_at is not None


def test_what_does_not_wait_is_not_taken_back(support: Client, looking: Client) -> None:
    request = kettle_request("refunded")
    assert support.post(f"/desk/requests/{request.uuid}/take-back", headers=HTMX).status_code == 409
    waiting = returning()
    assert looking.post(f"/desk/requests/{waiting.uuid}/take-back", headers=HTMX).status_code == 403
    waiting.refresh_from_db()
    assert (waiting.status, Approval.objects.count()) == ("awaiting_return", 0)


def test_the_brake_box_shows_todays_sum(support: Client) -> None:
    BudgetDay.objects.create(day=timezone.localdate(), currency="USD", spent_minor=11600)
    page = support.get("/desk/queue/needs-approval/").content.decode()
    assert "Automatic refunds on" in page
    assert "$116.00 of $500.00 today" in page


def test_a_lead_pauses_and_everybody_sees_who_when_and_why(lead: Client, support: Client) -> None:
    answer = lead.post("/desk/pause", {"paused": "yes", "reason": "Strange pictures today"}, headers=HTMX)
    assert (answer.status_code, Switch.objects.get().paused) == (204, True)
    page = support.get("/desk/queue/needs-approval/").content.decode()
    for words in ("Automatic refunds paused", "Maya Okafor", "“Strange pictures today”"):
        assert words in page
    lead.post("/desk/pause", {"paused": "no"}, headers=HTMX)
    assert not Switch.objects.get().paused


def test_pausing_needs_a_reason(lead: Client) -> None:
    answer = lead.post("/desk/pause", {"paused": "yes", "reason": " "}, headers=HTMX)
    assert (answer.status_code, "Say why" in answer.content.decode()) == (400, True)
    assert not Switch.objects.filter(paused=True).exists()


def test_only_a_lead_pauses(support: Client) -> None:
    assert "/desk/pause" not in support.get("/desk/queue/needs-approval/").content.decode()
    assert support.get("/desk/pause").status_code == 403
    assert support.post("/desk/pause", {"paused": "yes", "reason": "x"}).status_code == 403
    assert not Switch.objects.filter(paused=True).exists()


def test_pausing_works_without_javascript(lead: Client) -> None:
    assert "Pause automatic refunds?" in lead.get("/desk/pause").content.decode()
    assert lead.post("/desk/pause", {"paused": "yes", "reason": "Audit"}).headers["Location"] == "/desk/"


def test_pausing_what_is_paused_says_who_was_first_and_keeps_the_words(lead: Client) -> None:
    lead.post("/desk/pause", {"paused": "yes", "reason": "Strange pictures"}, headers=HTMX)
    answer = lead.post("/desk/pause", {"paused": "yes", "reason": "Stock-taking"}, headers=HTMX)
    page = answer.content.decode()
    assert answer.status_code == 409
    for words in (
        "Maya Okafor already paused automatic refunds",
        "“Strange pictures”",
        "Nothing was changed.",
        "Stock-taking",
    ):
        assert words in page
    assert [throw.reason for throw in SwitchThrow.objects.all()] == ["Strange pictures"]


def test_turning_on_what_was_never_paused_changes_nothing(lead: Client) -> None:
    answer = lead.post("/desk/pause", {"paused": "no"}, headers=HTMX)
    assert (answer.status_code, "Automatic refunds are on already." in answer.content.decode()) == (409, True)
    assert not SwitchThrow.objects.exists()


def test_the_log_of_the_brake_says_who_when_and_why_to_leads(lead: Client, support: Client) -> None:
    lead.post("/desk/pause", {"paused": "yes", "reason": "Strange pictures"}, headers=HTMX)
    lead.post("/desk/pause", {"paused": "no"}, headers=HTMX)
    address = "/desk/agent/switchthrow/"
    assert f'href="{address}"' in lead.get("/desk/queue/all/").content.decode()
    page = lead.get(address).content.decode()
    assert page.index("turned on") < page.index("Strange pictures")
    assert "Maya Okafor" in page
    assert f'href="{address}"' not in support.get("/desk/queue/all/").content.decode()
    assert support.get(address).status_code == 403


@pytest.mark.parametrize("method", ["put", "delete", "patch"])
def test_other_methods_are_not_taken(lead: Client, method: str) -> None:
    assert getattr(lead, method)("/desk/pause").status_code == 405


@pytest.mark.parametrize("method", ["post", "put", "delete", "patch"])
@pytest.mark.parametrize(
    "shown", ["queue/all/", "requests/{}/card", "requests/{}/steps", "counts", "models/", "evaluations/"]
)
def test_a_page_that_only_shows_takes_nothing(lead: Client, shown: str, method: str) -> None:
    address = f"/desk/{shown.format(kettle_request().uuid)}"
    assert getattr(lead, method)(address).status_code == 405
    assert lead.get(address).status_code == 200


def test_the_desks_address_that_signs_out_leads_to_a_button(lead: Client) -> None:
    assert lead.get("/desk/logout/")["Location"] == "/sign-out"
    assert "Do you want to sign out?" in lead.get("/sign-out").content.decode()
    assert lead.get("/desk/queue/all/").status_code == 200
    lead.post("/desk/logout/")
    assert lead.get("/desk/queue/all/").status_code == 302
