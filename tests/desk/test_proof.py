"""Every refund has its proof: what was paid and why, who or what decided, and whether the book still says so."""

from __future__ import annotations

import html
import re
import uuid
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client

from agent.anchor import anchor_yesterday
from agent.decide import decide
from agent.models import ChainRecord
from agent.seal_timelines import seal_timeline
from intake.models import RefundRequest
from payments.models import Charge, Refund
from payments.providers.choose import PROVIDERS
from payments.settle_refund import record_outcome
from tests.agent.book_cases import before_staff, paid_after_return, paid_automatically, paid_by_decision, refund_of
from tests.agent.work_off import work_off
from tests.behind_the_book import behind_the_book
from tests.desk.test_query_counts import queries_of
from tests.factories import CustomerFactory, RefundFactory, RequestFactory
from tests.fake_bank import FakeBank

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def unrung(own_photo_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.announce.ring", lambda run_id: True)


def address(refund: Refund) -> str:
    return f"/desk/refunds/{refund.pk}/proof/"


def text_of(client: Client, request: RefundRequest | Refund) -> str:
    """The page as it reads, without tags and with single spaces."""
    refund = request if isinstance(request, Refund) else refund_of(request)
    answer = client.get(address(refund))
    assert answer.status_code == 200
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).split())


def test_an_automatic_refund_is_told_rule_by_rule(support: Client) -> None:
    request = paid_automatically()
    page, refund, photo = text_of(support, request), refund_of(request), request.photos.get()
    assert "$34.00 went back to Visa ending 4242" in page
    assert "Everything fits. 2 links of the book, the rules and the sums were computed again just now" in page
    assert "Arrived damaged: “It arrived broken.” Priya Raman" in page
    assert "The shop's rules, without a person. All 8 had to allow it" in page
    assert "Limit $34.00 is within the $50.00 limit for automatic refunds. amount: $34.00 · currency: USD" in page
    assert "Earlier refunds No other refund of this customer within 90 days. other refunds on: none" in page
    assert f"SHA-256 {photo.digest}" in page
    assert "What the agent saw: “The crack is easy to see.”" in page
    assert "Policy 1 Automatic refunds up to and including $50.00 Days to ask after delivery 30" in page
    assert "told at once, when it was asked" in page
    assert str(refund.provider_reference) in page
    assert request.chain.get(kind="reserve").hash[:12] in page


def test_a_decided_refund_names_who_decided_and_what_was_recommended(support: Client, maya: User) -> None:
    page = text_of(support, paid_by_decision(maya, amount_minor=9900))
    assert "Maya Okafor approved $99.00" in page
    assert "(Desk)" in page
    assert "Clear." in page
    assert "The agent had recommended: refund. It was not paid automatically, because:" in page
    assert "$129.00 is above the $50.00 limit for automatic refunds." in page
    assert "without a person" not in page


def test_an_approval_of_fewer_units_says_of_how_many(support: Client, maya: User) -> None:
    request = before_staff(units=2)
    assert "for 1 of 2 units" not in text_of(support, paid_by_decision(maya))
    decide(approval_id=request.approvals.get().pk, by=maya, choice="approve", units=1, source="desk")
    page = text_of(support, work_off(request))
    assert "Maya Okafor approved $129.00 for 1 of 2 units, " in page
    assert "Everything fits." in page


def test_a_refund_of_the_shops_own_book_is_not_told_as_moved_money(
    support: Client, maya: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    moves_nothing = "The provider is the shop's own book: it writes a refund down and moves no money."
    assert moves_nothing in text_of(support, paid_by_decision(maya))
    monkeypatch.setitem(PROVIDERS, "bank", FakeBank())
    request = before_staff()
    behind_the_book(Charge).filter(order=request.line.order).update(provider="bank")
    decide(approval_id=request.approvals.get().pk, by=maya, choice="approve", source="desk")
    page = text_of(support, work_off(request))
    assert "Everything fits." in page
    assert moves_nothing not in page


def test_after_a_return_it_tells_what_came_back(support: Client, maya: User) -> None:
    request = paid_after_return(maya)
    page = text_of(support, request)
    assert "Maya Okafor approved $258.00 once the item is back" in page
    assert f"1 of 2 units came back under {request.returns.get().code}, recorded by Maya Okafor" in page


def test_a_late_failure_stands_among_the_answers(support: Client, maya: User) -> None:
    request = paid_by_decision(maya)
    record_outcome(refund_of(request).pk, status="failed", reason="closed", provider_reference="", source="webhook")
    page = text_of(support, request)
    assert "$129.00 did not go back to Visa ending 4242" in page
    assert "told later, by the provider's own message · “closed”" in page
    assert "Everything fits. 4 links" in page


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("UPDATE payments_refund SET amount_minor = 100", "amount (minor units) is 100, and the chain says 3400"),
        ("UPDATE payments_charge SET reserved_minor = 1", "holds $0.01 for its refunds, and they come to $34.00."),
        ("UPDATE intake_photo SET digest = 'ab'", "A photo of link 1 has another digest than was sealed."),
        ("UPDATE agent_chainrecord SET facts = '{}'", "Link 1 (money reserved) is not as it was written"),
        ("UPDATE agent_chainrecord SET facts = '[1]'", "Link 1 (money reserved) is not as it was written"),
        ("DELETE FROM agent_chainrecord", "has no link in the chain."),
    ],
)
def test_what_does_not_fit_is_said_on_the_page(support: Client, statement: str, sentence: str) -> None:
    request = paid_automatically()
    with connection.cursor() as cursor:
        cursor.execute(statement)
    page = text_of(support, request)
    assert "Something does not fit." in page
    assert sentence in page
    assert "Change nothing, and show this page to whoever looks after the desk." in page
    assert "Everything fits" not in page


def test_a_changed_rule_in_the_book_is_no_longer_told_as_allowed(support: Client) -> None:
    request = paid_automatically()
    link = request.chain.get(kind="reserve")
    link.facts["rules"]["verdicts"][1]["outcome"] = "ask"
    behind_the_book(ChainRecord).filter(pk=link.pk).update(facts=link.facts)
    page = text_of(support, request)
    assert "did not allow it" in page
    assert "Something does not fit." in page


def test_the_newest_link_is_held_by_the_days_anchor(support: Client, maya: User) -> None:
    request = paid_by_decision(maya)
    assert "The shop's next daily anchor will hold the newest link." in text_of(support, request)
    behind_the_book(ChainRecord).update(created_at="2026-01-05T12:00:00+00:00")
    anchor = anchor_yesterday()
    assert anchor is not None
    assert (
        f"The newest link stands under the shop's anchor of {anchor.day:%a} {anchor.day.day} {anchor.day:%b %Y}: "
        f"{anchor.hash}" in text_of(support, request)
    )


def test_the_link_that_seals_the_last_words_is_told_as_one(support: Client) -> None:
    request = paid_automatically()
    left = request.steps.count() - sum(len(link.facts["timeline"]["steps"]) for link in request.chain.all())
    assert left == 2
    with transaction.atomic():
        assert seal_timeline(request.pk)
    page = text_of(support, request)
    assert "Everything fits. 3 links of the book" in page
    assert re.search(r"3 Timeline sealed .{20,40} hash [0-9a-f]{12} · before it [0-9a-f]{12} · seals 2 steps", page)


def test_a_refund_made_elsewhere_says_so_to_who_may_see_the_ledger(lead: Client, support: Client) -> None:
    refund = RefundFactory(request_uuid=None, key="external_1")
    record_outcome(refund.pk, status="succeeded", reason="", provider_reference="", source="import")
    page = text_of(lead, refund)
    assert "Everything fits." in page
    assert "made elsewhere: no request, no rule and no decision of this desk stands behind it." in page
    assert "taken over from the provider's list" in page
    assert support.get(address(refund)).status_code == 403


def test_a_refund_of_a_request_that_is_not_there_does_not_fit(lead: Client) -> None:
    assert "Something does not fit. It names a request that does not exist." in text_of(lead, RefundFactory())


def test_a_refund_that_nobody_answered_yet(support: Client) -> None:
    request = RequestFactory(status="refunding")
    refund = RefundFactory(charge=request.line.order.charges.get(), request_uuid=request.uuid)
    page = text_of(support, refund)
    assert "$15.00 is on its way back to Visa ending 4242" in page
    assert "Nothing yet. It is asked again by itself." in page
    assert "The book holds nothing of it that can be read." in page


def test_only_staff_read_it(client: Client, looking: Client) -> None:
    refund = refund_of(paid_automatically())
    client.force_login(CustomerFactory())
    assert client.get(address(refund)).status_code == 302
    assert looking.get(address(refund)).status_code == 200
    assert looking.get(f"/desk/refunds/{uuid.uuid4()}/proof/").status_code == 404


def test_what_customers_wrote_is_text_and_never_markup(support: Client) -> None:
    request = paid_automatically()
    behind_the_book(RefundRequest).filter(pk=request.pk).update(details="<b>bold</b>")
    assert "<b>bold</b>" not in support.get(address(refund_of(request))).content.decode()


def test_the_case_and_the_ledger_lead_to_it(lead: Client, maya: User) -> None:
    request = paid_by_decision(maya)
    link = f'href="{address(refund_of(request))}"'
    assert link in lead.get(f"/desk/queue/resolved/{request.uuid}/").content.decode()
    assert link in lead.get(f"/desk/payments/refund/{refund_of(request).pk}/change/").content.decode()


def test_a_proof_takes_a_fixed_number_of_queries(support: Client, maya: User) -> None:
    request = paid_by_decision(maya)
    refund = refund_of(request)
    few = queries_of(support, address(refund))
    record_outcome(refund.pk, status="failed", reason="closed", provider_reference="", source="webhook")
    for _ in range(10):
        paid_by_decision(maya)
    assert queries_of(support, address(refund)) == few == 26
