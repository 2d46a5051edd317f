"""Whatever was changed behind the code, in a row or in the chain itself, the check names it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from agent.verify.shop import verify_shop
from intake.models import Step
from intake.timeline import Entry, write_step
from payments.models import Refund
from tests.agent.book_cases import (
    declined,
    paid_after_return,
    paid_automatically,
    paid_by_decision,
)
from tests.agent.falsify import named, rewritten, sql
from tests.behind_the_book import behind_the_book
from tests.factories import RequestFactory, StaffFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_photo_folder", "rung", "worded_decline")]


Change = tuple[str, str]
CHANGES_OF_MONEY: list[Change] = [
    ("UPDATE payments_refund SET amount_minor = 100", "amount (minor units) is 100, and the chain says 3400"),
    ("UPDATE payments_refund SET units = 7", "its units is 7, and the chain says 1"),
    ("UPDATE payments_refund SET card_last4 = '9999'", "its card is Visa 9999, and the chain says Visa 4242"),
    ("UPDATE payments_refund SET automatic = NOT automatic", "its automatic is False, and the chain says True"),
    ("UPDATE payments_refund SET key = 'other'", "its key is other"),
    ("UPDATE payments_refund SET reference = 're_other'", "its reference is re_other"),
    ("UPDATE payments_refund SET reserved_at = '2020-01-01 00:00:00+00:00'", "time is 2020-01-01"),
    ("UPDATE payments_refund SET status = 'pending'", "its status is pending, and the chain says succeeded"),
    ("UPDATE payments_refund SET failure_reason = 'no'", "its failure reason is no, and the chain says empty"),
    ("UPDATE payments_refund SET settled_at = NULL", "its settled at is empty"),
    ("UPDATE payments_refund SET provider_reference = 'x'", "its provider reference is x"),
    ("UPDATE payments_refund SET request_uuid = NULL", "The refund of link 1 is not in the book."),
    ("UPDATE payments_refundoutcome SET source = 'beat'", "its source is beat, and the chain says run"),
    ("UPDATE payments_refundoutcome SET reason = 'kind'", "its reason is kind, and the chain says empty"),
    ("UPDATE payments_refundoutcome SET status = 'failed'", "its status is failed, and the chain says succeeded"),
    ("UPDATE payments_refundoutcome SET created_at = '2020-01-01 00:00:00+00:00'", "its time is 2020-01-01"),
    ("DELETE FROM payments_refundoutcome", "The provider's answer of link 2 is not in the book."),
    ("UPDATE payments_charge SET captured_minor = 9999", "captured amount (minor units) is 9999"),
    ("UPDATE payments_charge SET card_brand = 'Amex'", "its card is Amex 4242"),
]
CHANGES_OF_EVIDENCE: list[Change] = [
    ("UPDATE intake_refundrequest SET amount_minor = 9999", "amount (minor units) is 9999, and the chain says 3400"),
    ("UPDATE intake_refundrequest SET reason = 'defective'", "its reason is defective, and the chain says damaged"),
    ("UPDATE intake_refundrequest SET details = 'Oh.'", "its customer's text is another one than the chain says"),
    ("UPDATE intake_photo SET digest = 'ab'", "A photo of link 1 has another digest than was sealed."),
    ("DELETE FROM intake_photo", "A photo of link 1 is not in the book any more."),
    ("UPDATE intake_policyversion SET auto_refund_limit_minor = 1", "limit for automatic refunds (minor units) is 1"),
    ("UPDATE intake_policyversion SET history_days = 1", "its history days is 1, and the chain says 90"),
    ("UPDATE payments_orderline SET delivered_at = '2020-01-01 00:00:00+00:00'", "its delivery is 2020-01-01"),
    ("UPDATE agent_run SET verdicts = '[]'", "the run that made it does not hold the verdicts of the chain"),
    ("UPDATE intake_step SET title = 'Nothing' WHERE position = 1", "Step 1 of the timeline is not as it was sealed."),
    ("UPDATE intake_step SET for_customer = NOT for_customer WHERE position = 1", "Step 1 of the timeline is not as"),
    ("UPDATE intake_step SET state = 'running' WHERE position = 1", "another look at the picture"),
    ("DELETE FROM intake_step WHERE position = 1", "the timeline tells another look at the picture than the chain."),
]


@pytest.mark.parametrize(("statement", "sentence"), CHANGES_OF_MONEY + CHANGES_OF_EVIDENCE)
def test_what_was_changed_behind_an_automatic_refund_is_named(statement: str, sentence: str) -> None:
    request = paid_automatically()
    assert named(request) == ""
    sql(statement)
    assert sentence in named(request)
    assert not verify_shop().fits


CHANGES_OF_A_DECISION: list[Change] = [
    ("UPDATE agent_decision SET choice = 'decline'", "its choice is decline, and the chain says approve"),
    ("UPDATE agent_decision SET amount_minor = 99999", "amount (minor units) is 99999, and the chain says 25800"),
    ("UPDATE agent_decision SET note = 'Whatever.'", "its note is another one than the chain says"),
    ("UPDATE agent_decision SET source = 'api'", "its source is api, and the chain says desk"),
    ("UPDATE agent_decision SET created_at = '2020-01-01 00:00:00+00:00'", "its time is 2020-01-01"),
    ("UPDATE agent_decision SET set_aside_at = carried_out_at", "rests on a decision that did not approve it"),
    ("UPDATE agent_approval SET recommendation = 'decline'", "its recommendation is decline"),
    ("UPDATE agent_approval SET failed_rules = '[]'", "its failed rules is []"),
    ("UPDATE intake_receipt SET units = 2", "its units is 2, and the chain says 1"),
    ("UPDATE intake_return SET amount_minor = 1", "its agreed amount (minor units) is 1"),
]


@pytest.mark.parametrize(("statement", "sentence"), CHANGES_OF_A_DECISION)
def test_what_was_changed_behind_a_decided_refund_is_named(maya: User, statement: str, sentence: str) -> None:
    request = paid_after_return(maya)
    assert named(request) == ""
    sql(statement)
    assert sentence in named(request)


def test_another_decider_is_named(maya: User) -> None:
    request = paid_by_decision(maya)
    sql("UPDATE agent_decision SET decided_by_id = %s", StaffFactory().pk)
    assert "its decider is" in named(request)


def test_a_decider_who_is_called_otherwise_today_is_no_misfit(maya: User) -> None:
    request = paid_by_decision(maya)
    User.objects.filter(pk=maya.pk).update(last_name="Reyes")
    assert named(request) == ""


CHANGES_OF_THE_CHAIN: list[Change] = [
    ("UPDATE agent_chainrecord SET facts = '{}' WHERE sequence = 2", "Link 2 (money reserved) is not as it was"),
    ("UPDATE agent_chainrecord SET kind = 'outcome' WHERE sequence = 1", "Link 1 (provider's answer) is not as it"),
    ("UPDATE agent_chainrecord SET subject = 'x' WHERE sequence = 1", "Link 1 (decision) is not as it was written"),
    ("UPDATE agent_chainrecord SET hash = 'x' WHERE sequence = 2", "Link 2 (money reserved) is not as it was written"),
    ("UPDATE agent_chainrecord SET previous_hash = 'x' WHERE sequence = 3", "Link 3 does not hold the hash of the"),
    ("UPDATE agent_chainrecord SET sequence = 9 WHERE sequence = 3", "Link 3 of the chain is missing; the next one is"),
    ("DELETE FROM agent_chainrecord WHERE sequence = 1", "Link 1 of the chain is missing; the next one is link 2."),
    ("DELETE FROM agent_chainrecord WHERE sequence = 3", "An answer about refund re_"),
    ("UPDATE agent_chainrecord SET created_at = '2020-01-01 00:00:00+00:00' WHERE sequence = 1", "Link 1 has another"),
]


@pytest.mark.parametrize(("statement", "sentence"), CHANGES_OF_THE_CHAIN)
def test_a_chain_that_was_changed_is_named(maya: User, statement: str, sentence: str) -> None:
    request = paid_by_decision(maya)
    sql(statement)
    assert sentence in named(request)


def test_a_link_that_stands_in_another_chain_is_named(maya: User) -> None:
    declined(maya)
    other = RequestFactory()
    sql("UPDATE agent_chainrecord SET request_id = %s", other.pk)
    assert named(other) == "Link 1 belongs to another request."


def test_a_step_put_in_later_is_named() -> None:
    request = paid_automatically()
    step = write_step(request.pk, Entry(kind=Step.Kind.ACTION, actor=Step.Actor.AGENT, title="Of course"))
    assert named(request) == ""
    behind_the_book(Step).filter(pk=step.pk).update(rev=0, position=40)
    assert named(request) == "Step 40 of the timeline was put in later."


def test_the_rules_are_asked_again_not_only_compared() -> None:
    """Facts, verdicts' hash and rows agree with each other, and still the rule would not have allowed it."""
    request = paid_automatically()

    def age(facts: dict[str, Any]) -> None:
        facts["rules"]["facts"]["refund_days"] = [facts["rules"]["facts"]["today"]]

    rewritten(request.chain.get(kind="reserve"), age)
    assert "the rule “history” says “ask” now, and “allow” is kept." in named(request)


FORGED: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda facts: facts["rules"]["facts"].update(paused=True), "the rule “paused” says “ask” now"),
    (lambda facts: facts["rules"]["facts"].update(spent_today_minor=49_999), "the rule “budget” says “ask” now"),
    (lambda facts: facts["rules"]["facts"].update(first_review=False), "the rule “first_review” says “ask” now"),
    (lambda facts: facts["rules"]["facts"].update(photo_verdict="no"), "the rule “photo” says “ask” now"),
    (lambda facts: facts["rules"]["facts"].update(limit_minor=9000), "the rule “limit” looked at other facts"),
    (lambda facts: facts["rules"]["facts"].update(reason="defective"), "the rule “reason” looked at other facts"),
    (lambda facts: facts["rules"]["facts"].update(today="2020-01-01"), "was decided on 2020-01-01 and reserved on"),
    (lambda facts: facts["rules"]["facts"].pop("paused"), "The facts in the chain cannot be read (KeyError: 'paused')"),
    (lambda facts: facts["rules"]["verdicts"].pop(), "the rule “budget” was not asked"),
    (lambda facts: facts["rules"]["verdicts"].append({"rule": "luck"}), "the rule “luck” cannot be asked again"),
    (lambda facts: facts["seen"].update(explanation="Looks fine."), "another look at the picture than the chain"),
    (lambda facts: facts.pop("rules"), "The facts in the chain cannot be read (KeyError: 'rules')"),
    (lambda facts: facts.update(photos="x"), "The facts in the chain cannot be read (TypeError"),
]


@pytest.mark.parametrize(("change", "sentence"), FORGED)
def test_an_automatic_reserve_forged_with_right_hashes_does_not_fit(
    change: Callable[[dict[str, Any]], Any], sentence: str
) -> None:
    request = paid_automatically()
    rewritten(request.chain.get(kind="reserve"), change)
    assert sentence in named(request)


def test_an_automatic_refund_passed_off_as_decided_has_no_decision() -> None:
    request = paid_automatically()
    sql("UPDATE payments_refund SET automatic = NOT automatic")

    def forge(facts: dict[str, Any]) -> None:
        facts["refund"]["automatic"] = False
        facts.update(decision=None, receipt=None)

    rewritten(request.chain.get(kind="reserve"), forge)
    assert "has no decision behind it" in named(request)


def test_a_decided_refund_above_its_decision_is_named(maya: User) -> None:
    request = paid_by_decision(maya, amount_minor=9900)
    behind_the_book(Refund).update(amount_minor=12_900)
    rewritten(request.chain.get(kind="reserve"), lambda facts: facts["refund"].update(amount_minor=12_900))
    assert named(request).endswith("is above what was decided.")
    behind_the_book(Refund).update(amount_minor=9000)
    rewritten(request.chain.get(kind="reserve"), lambda facts: facts["refund"].update(amount_minor=9000))
    assert named(request).endswith("is not the amount that was decided.")
