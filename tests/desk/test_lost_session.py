"""A session that ran out in the middle of a decision: the whole page to sign in and back, nothing decided or lost."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

from agent.models import Approval, Decision
from desk.case import load_case
from desk.forms import decision_form
from tests.desk.rows import card_for, kettle_request
from tests.factories import CustomerFactory

HTMX = {"HX-Request": "true"}
PASSWORD = "a-good-long-one"


@pytest.fixture
def card(db: None) -> Approval:
    return card_for(kettle_request())


def decide_address(card: Approval) -> str:
    return f"/desk/requests/{card.request.uuid}/decide"


def sign_in(client: Client, user: User, next_page: str) -> str:
    user.set_password(PASSWORD)
    user.save()
    answer = client.post("/desk/login/", {"username": user.username.upper(), "password": PASSWORD, "next": next_page})
    return answer.headers["Location"]


def test_an_htmx_button_after_expiry_leads_the_whole_page_to_sign_in_and_back(daniel: User, card: Approval) -> None:
    client = Client()
    given = {"card": str(card.pk), "choice": "decline", "note": "A long reason typed with care"}
    answer = client.post(decide_address(card), given, headers=HTMX)
    there = urlsplit(answer.headers["HX-Redirect"])
    assert (answer.status_code, answer.content, there.path) == (200, b"", "/desk/login/")
    assert not Decision.objects.exists()

    back = sign_in(client, daniel, parse_qs(there.query)["next"][0])
    page = client.get(back).content.decode()
    assert "A long reason typed with care</textarea>" in page
    assert "nothing was sent" in page
    assert not Decision.objects.exists()


def test_the_same_without_javascript(daniel: User, card: Approval) -> None:
    client = Client()
    given = {"card": str(card.pk), "choice": "approve", "amount": "99.00", "note": "Less, as agreed"}
    answer = client.post(decide_address(card), given)
    back = sign_in(client, daniel, parse_qs(urlsplit(answer.headers["Location"]).query)["next"][0])
    page = client.get(back).content.decode()
    assert 'value="99.00"' in page
    assert "Less, as agreed</textarea>" in page
    assert "Less, as agreed" not in client.get(back).content.decode()


@pytest.mark.parametrize(("sent", "opened"), [("decline", "approve"), ("ask_customer", "decline")])
def test_a_draft_of_one_choice_waits_for_its_own_form(daniel: User, card: Approval, sent: str, opened: str) -> None:
    client = Client()
    given = {"card": str(card.pk), "choice": sent, "note": "Words meant for something else"}
    client.post(decide_address(card), given)
    sign_in(client, daniel, "/desk/")

    form = {"card": str(card.pk), "choice": opened}
    page = client.get(decide_address(card), form).content.decode()
    assert f'<input type="hidden" name="choice" value="{opened}"' in page
    assert "Words meant for something else" not in page
    assert "nothing was sent" not in page
    page = client.get(decide_address(card), {**form, "choice": sent}).content.decode()
    assert f'<input type="hidden" name="choice" value="{sent}"' in page
    assert "Words meant for something else</textarea>" in page


def test_a_form_sends_the_choice_it_shows_whatever_it_starts_with(card: Approval) -> None:
    start = {"card": str(card.pk), "choice": "decline", "note": "x"}
    assert decision_form("approve", load_case(card.request), start=start)["choice"].value() == "approve"


def test_the_reason_for_the_brake_is_kept_as_well(maya: User) -> None:
    client = Client()
    answer = client.post("/desk/pause", {"paused": "yes", "reason": "Strange pictures today"}, headers=HTMX)
    back = sign_in(client, maya, parse_qs(urlsplit(answer.headers["HX-Redirect"]).query)["next"][0])
    assert (back, 'value="Strange pictures today"' in client.get(back).content.decode()) == ("/desk/pause", True)


@pytest.mark.parametrize(
    "address", ["password_change/", "auth/user/add/", "auth/user/1/password/", "intake/policyversion/add/"]
)
def test_what_no_form_gives_back_is_not_kept(db: None, address: str) -> None:
    client = Client()
    given = {"old_password": PASSWORD, "new_password1": "another-long-one", "password1": PASSWORD, "currency": "USD"}
    answer = client.post(f"/desk/{address}", given)
    assert (answer.status_code, urlsplit(answer.headers["Location"]).path) == (302, "/desk/login/")
    assert "desk_draft" not in client.session


def test_no_password_is_kept_whatever_form_it_is_sent_to(card: Approval) -> None:
    client = Client()
    words = {"card": str(card.pk), "choice": "decline", "note": "x"}
    secrets = {"password": PASSWORD, "Old_Password": PASSWORD, "new_password1": PASSWORD, "csrfmiddlewaretoken": "y"}
    client.post(decide_address(card), {**secrets, **words})
    assert client.session["desk_draft"]["fields"] == words


def test_a_fragment_is_never_the_sign_in_page(card: Approval) -> None:
    shown = f"/desk/queue/needs-approval/{card.request.uuid}/"
    for address in (shown, f"/desk/requests/{card.request.uuid}/card", "/desk/counts"):
        headers = {**HTMX, "HX-Current-URL": f"http://testserver{shown}"}
        answer = Client().get(address, headers=headers)
        assert answer.content == b""
        assert parse_qs(urlsplit(answer.headers["HX-Redirect"]).query)["next"] == [shown]


def test_a_part_that_refreshes_by_itself_takes_nobody_away(card: Approval) -> None:
    for part, address in (("rows", "/desk/queue/all/"), ("case-main", f"/desk/requests/{card.request.uuid}/card")):
        answer = Client().get(address, headers={**HTMX, "HX-Trigger": part})
        assert (answer.status_code, answer.content, "HX-Redirect" in answer.headers) == (204, b"", False)
        assert "desk:signed-out" in answer.headers["HX-Trigger"]


@pytest.mark.parametrize("shown", ["http://[", "http://[::1", "no address"])
def test_a_page_shown_that_is_no_address_leads_to_what_was_asked_for(card: Approval, shown: str) -> None:
    answer = Client().get(decide_address(card), headers=HTMX | {"HX-Current-URL": shown})
    assert answer.status_code == 200
    assert parse_qs(urlsplit(answer.headers["HX-Redirect"]).query)["next"] == [decide_address(card)]


def test_a_customer_does_not_get_in_and_leaves_no_draft(card: Approval) -> None:
    client = Client()
    client.force_login(CustomerFactory())
    answer = client.post(decide_address(card), {"card": str(card.pk), "choice": "decline", "note": "x"})
    assert urlsplit(answer.headers["Location"]).path == "/desk/login/"
    assert "desk_draft" not in client.session
    assert not Decision.objects.exists()


def test_a_customer_cannot_sign_in_on_the_desk(card: Approval) -> None:
    customer = CustomerFactory()
    customer.set_password(PASSWORD)
    customer.save()
    answer = Client().post("/desk/login/", {"username": customer.username, "password": PASSWORD})
    assert answer.status_code == 200
    assert "no staff account" in answer.content.decode()
    assert settings.SESSION_COOKIE_NAME not in answer.cookies


def test_signed_in_again_in_another_tab_the_old_page_decides_nothing(daniel: User, card: Approval) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(daniel)
    given = {"card": str(card.pk), "choice": "decline", "note": "x", "csrfmiddlewaretoken": "y" * 64}
    client.cookies[settings.CSRF_COOKIE_NAME] = "z" * 32
    answer = client.post(decide_address(card), given, headers=HTMX)
    assert answer.status_code == 403
    assert "<html" not in answer.content.decode()
    assert "eload" in answer.content.decode()
    assert not Decision.objects.exists()


def test_drafts_of_strangers_fill_no_table(card: Approval, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("desk.lost_session.MOST_DRAFTS_OF_A_PLACE", 2)
    given = {"card": str(card.pk), "choice": "decline", "note": "x"}
    answers = [Client().post(decide_address(card), given) for _ in range(3)]
    assert [urlsplit(answer.headers["Location"]).path for answer in answers] == ["/desk/login/"] * 3
    assert Session.objects.count() == 2
