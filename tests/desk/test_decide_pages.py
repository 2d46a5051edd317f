"""The three decisions through the desk's pages: confirmed, kept on error, refused without the permission."""

from __future__ import annotations

import json
import uuid

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from agent.models import Approval, Decision
from intake.models import RefundRequest
from payments.models import Charge
from tests.behind_the_book import behind_the_book
from tests.desk.rows import card_for, kettle_request, member_of
from tests.factories import RefundFactory

HTMX = {"HX-Request": "true"}


@pytest.fixture
def request_(db: None) -> RefundRequest:
    return kettle_request()


@pytest.fixture
def card(request_: RefundRequest) -> Approval:
    return card_for(request_, draft_question="Does it leak when you pour slowly?")


def address(card: Approval) -> str:
    return f"/desk/requests/{card.request.uuid}/decide"


def fields(card: Approval, choice: str, **given: str) -> dict[str, str]:
    return {"card": str(card.pk), "choice": choice, **given}


def assert_nothing_decided(card: Approval) -> None:
    card.refresh_from_db()
    card.request.refresh_from_db()
    assert card.closed_at is None
    assert card.request.status == "needs_approval"
    assert not Decision.objects.exists()


def test_the_button_that_approves_names_the_amount(support: Client, card: Approval) -> None:
    page = support.get(address(card), fields(card, "approve"), headers=HTMX).content.decode()
    assert "Refund $129.00</span>" in page
    assert 'value="129.00"' in page


def test_approve_refunds_the_whole_amount_and_closes_the_dialog(support: Client, card: Approval) -> None:
    answer = support.post(address(card), fields(card, "approve", amount="129.00"), headers=HTMX)
    decision = Decision.objects.get()
    assert (answer.status_code, list(json.loads(answer.headers["HX-Trigger"]))) == (204, ["desk:done"])
    assert (decision.choice, decision.amount_minor, decision.shipping_minor) == ("approve", 12900, 0)
    assert (decision.decided_by.first_name, decision.source, decision.require_return) == ("Daniel", "desk", False)


def test_approve_takes_less_with_shipping_and_return(support: Client, card: Approval) -> None:
    given = fields(card, "approve", amount="$100.50", shipping="8", require_return="on", note="Agreed on the phone")
    support.post(address(card), given, headers=HTMX)
    decision = Decision.objects.get()
    assert (decision.amount_minor, decision.shipping_minor, decision.require_return) == (10850, 800, True)
    assert decision.note == "Agreed on the phone"


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("129.01", "At most $129.00: what the customer asked for."),
        ("a lot", "“a lot” is not an amount. Write it like $34.00."),
        ("0", "The amount must be above zero, like $34.00."),
        ("-5", "The amount must be above zero, like $34.00."),
        ("12.345", "USD amounts have at most 2 decimals, like $34.00."),
        ("", "Write the amount to refund."),
    ],
)
def test_a_wrong_amount_is_said_and_keeps_what_was_typed(
    support: Client, card: Approval, typed: str, sentence: str
) -> None:
    given = fields(card, "approve", amount=typed, note="Half of it is fine")
    answer = support.post(address(card), given, headers=HTMX)
    page = answer.content.decode()
    assert answer.status_code == 400
    assert answer.headers["Desk-Fragment"] == "1"
    assert sentence in page
    assert "Half of it is fine" in page
    assert_nothing_decided(card)


def test_more_shipping_than_was_paid_is_refused(support: Client, card: Approval) -> None:
    given = fields(card, "approve", amount="129.00", shipping="8.01")
    assert "At most $8.00" in support.post(address(card), given, headers=HTMX).content.decode()
    assert_nothing_decided(card)


def test_shipping_that_went_back_meanwhile_is_not_dropped_from_what_was_typed(support: Client, card: Approval) -> None:
    order = card.request.line.order
    RefundFactory(charge=order.charges.get(), request_uuid=None, amount_minor=800, shipping_minor=800)
    given = fields(card, "approve", amount="39.00", shipping="8.00")
    answer = support.post(address(card), given, headers=HTMX)
    page = answer.content.decode()
    assert (answer.status_code, "At most $0.00: what is left of the shipping." in page) == (400, True)
    assert 'value="8.00"' in page
    assert_nothing_decided(card)


def test_a_charge_that_holds_too_little_is_named(support: Client, card: Approval) -> None:
    behind_the_book(Charge).filter(order=card.request.line.order).update(captured_minor=5000)
    page = support.get(f"/desk/queue/needs-approval/{card.request.uuid}/").content.decode()
    assert "No single charge of this order holds $129.00; the fullest has $50.00 left." in page
    answer = support.post(address(card), fields(card, "approve", amount="129.00"), headers=HTMX)
    assert (answer.status_code, "at most $50.00 is left on one" in answer.content.decode()) == (400, True)
    assert_nothing_decided(card)


def test_ask_starts_with_the_draft_question(support: Client, card: Approval) -> None:
    page = support.get(address(card), fields(card, "ask_customer"), headers=HTMX).content.decode()
    assert "Does it leak when you pour slowly?</textarea>" in page
    support.post(address(card), fields(card, "ask_customer", note="Does it leak?"), headers=HTMX)
    assert Decision.objects.get().note == "Does it leak?"


def test_a_question_that_is_too_long_is_refused_and_kept(support: Client, card: Approval) -> None:
    answer = support.post(address(card), fields(card, "ask_customer", note="x" * 501), headers=HTMX)
    assert (answer.status_code, "x" * 501 in answer.content.decode()) == (400, True)
    assert_nothing_decided(card)


def test_decline_needs_a_reason(support: Client, card: Approval) -> None:
    answer = support.post(address(card), fields(card, "decline", note="   "), headers=HTMX)
    assert (answer.status_code, "Say why it is declined" in answer.content.decode()) == (400, True)
    assert_nothing_decided(card)
    support.post(address(card), fields(card, "decline", note="A replacement was sent."), headers=HTMX)
    assert (Decision.objects.get().choice, Decision.objects.get().note) == ("decline", "A replacement was sent.")


@pytest.mark.parametrize(("key", "words"), [("", "word for word"), ("a-key", "worded by the agent, or as it stands")])
def test_decline_says_truly_what_the_customer_reads(
    support: Client, card: Approval, settings: Settings, key: str, words: str
) -> None:
    settings.LLM_CHAIN, settings.LLM_API_KEY = (), key
    page = support.get(address(card), fields(card, "decline"), headers=HTMX).content.decode()
    assert f"The customer reads your reason {words}" in page.replace("in a short message: ", "")
    assert "such as “rule” or “staff”, is not quoted at all" in page


def test_without_javascript_the_form_is_a_page_and_leads_back(support: Client, card: Approval) -> None:
    page = support.get(address(card), fields(card, "decline")).content.decode()
    assert "<html" in page
    assert f'action="{address(card)}?choice=decline"' in page
    answer = support.post(address(card), fields(card, "decline", note="No."))
    assert answer.headers["Location"] == f"/desk/requests/{card.request.uuid}/"
    moved = support.get(answer.headers["Location"])
    assert moved.headers["Location"] == f"/desk/queue/agent-working/{card.request.uuid}/"


def test_without_the_permission_buttons_are_hidden_and_posts_are_refused(looking: Client, card: Approval) -> None:
    page = looking.get(f"/desk/queue/needs-approval/{card.request.uuid}/").content.decode()
    assert 'name="choice"' not in page
    assert "may read this card but not decide it" in page
    for choice in ("approve", "ask_customer", "decline"):
        answer = looking.post(address(card), fields(card, choice, amount="129.00", note="x"), headers=HTMX)
        assert answer.status_code == 403
    assert_nothing_decided(card)


def test_the_second_to_decide_is_told_who_was_first_and_keeps_the_words(
    support: Client, lead: Client, card: Approval
) -> None:
    support.post(address(card), fields(card, "decline", note="No."), headers=HTMX)
    answer = lead.post(address(card), fields(card, "ask_customer", note="My long question"), headers=HTMX)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Already decided by Daniel Reyes" in page
    assert "My long question</textarea>" in page
    assert Decision.objects.count() == 1


def test_a_form_opened_after_somebody_decided_says_so(support: Client, lead: Client, card: Approval) -> None:
    support.post(address(card), fields(card, "decline", note="No."), headers=HTMX)
    answer = lead.get(address(card), fields(card, "approve"), headers=HTMX)
    assert answer.status_code == 409
    assert "Already decided by Daniel Reyes on " in answer.content.decode()


def test_a_card_closed_without_a_decision_names_nobody_of_an_older_one(
    support: Client, daniel: User, card: Approval
) -> None:
    Decision.objects.create(approval=card, choice="approve", amount_minor=12900, decided_by=daniel, source="desk")
    behind_the_book(Approval).filter(pk=card.pk).update(closed_at=timezone.now())
    taken_back = card_for(card.request, closed_at=timezone.now())
    opened = support.get(address(card), fields(taken_back, "approve"), headers=HTMX)
    sent = support.post(address(card), fields(taken_back, "approve", amount="129.00"), headers=HTMX)
    for answer in (opened, sent):
        page = answer.content.decode()
        assert answer.status_code == 409
        assert "This card is closed. Reload the page to see where the request stands." in page
        assert "Daniel" not in page


def test_nobody_fills_in_a_form_for_their_own_request(support: Client, daniel: User, card: Approval) -> None:
    RefundRequest.objects.update(customer=daniel)
    for choice in ("approve", "ask_customer", "decline"):
        answer = support.get(address(card), fields(card, choice), headers=HTMX)
        page = answer.content.decode()
        assert (answer.status_code, "Somebody else has to decide your own request." in page) == (403, True)
        assert "<form" not in page


def test_the_card_of_another_request_and_no_card_at_all_leave_nothing_to_decide(
    support: Client, card: Approval
) -> None:
    other = card_for(kettle_request())
    for card_id in (str(other.pk), ""):
        if not card_id:
            behind_the_book(Approval).filter(pk=card.pk).update(closed_at=timezone.now())
        answer = support.get(address(card), {"card": card_id, "choice": "approve"}, headers=HTMX)
        assert (answer.status_code, "There is nothing to decide here" in answer.content.decode()) == (404, True)


def test_the_address_a_form_is_sent_to_opens_it_again(support: Client, card: Approval) -> None:
    shown = support.post(address(card), fields(card, "decline", note=" ")).content.decode()
    opens_again = f"{address(card)}?choice=decline"
    assert f'<form method="post" action="{opens_again}"' in shown
    assert f"Decline {card.request}?" in support.get(opens_again).content.decode()


def test_an_old_page_does_not_decide_a_newer_card(support: Client, card: Approval) -> None:
    newer = uuid.uuid4()
    answer = support.get(address(card), {**fields(card, "approve"), "card": str(newer)}, headers=HTMX)
    assert answer.status_code == 404
    assert support.post(address(card), {"card": str(newer), "choice": "approve", "amount": "1"}).status_code == 404
    assert_nothing_decided(card)


def test_an_unknown_choice_is_not_found(support: Client, card: Approval) -> None:
    assert support.post(address(card), fields(card, "burn")).status_code == 404
    assert support.get(address(card)).status_code == 404


def test_a_person_who_lost_the_group_meanwhile_is_refused(card: Approval) -> None:
    user = member_of("support")
    client = Client()
    client.force_login(user)
    user.groups.clear()
    assert client.post(address(card), fields(card, "approve", amount="129"), headers=HTMX).status_code == 403
    assert_nothing_decided(card)
