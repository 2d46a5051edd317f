"""`verify` computes the book again and names the first thing that does not fit, whatever was changed behind it."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.storage import FileSystemStorage
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import F
from django.utils import timezone

from agent.anchor import anchor_yesterday
from agent.canonical import iso
from agent.chain import link_hash
from agent.facts import shop_day
from agent.link_facts import text_digest
from agent.models import ChainAnchor, ChainRecord, Decision
from agent.verify.one_request import first_misfit, second_look
from agent.verify.pages import read_pages
from agent.verify.shop import MOST_NAMED, verify_shop
from intake.models import Photo, RefundRequest, Step
from intake.timeline import Entry, write_step
from payments.models import Charge, Refund
from payments.settle_refund import record_outcome
from tests.agent.book_cases import (
    before_staff,
    declined,
    paid_after_return,
    paid_automatically,
    paid_by_decision,
    refund_of,
)
from tests.behind_the_book import behind_the_book
from tests.factories import ChargeFactory, RefundFactory, RequestFactory, StaffFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_photo_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rung: object, worded_decline: None) -> Path:
    monkeypatch.setattr(Photo._meta.get_field("file"), "storage", FileSystemStorage(location=tmp_path))
    return tmp_path


def run_verify(*options: str) -> str:
    out = io.StringIO()
    call_command("verify", *options, stdout=out)
    return out.getvalue()


def named(request: RefundRequest) -> str:
    return first_misfit(read_pages([request.pk])[0])


def sql(statement: str, *values: Any) -> None:
    """Straight into the table, past every guard of the code."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        assert cursor.rowcount == 1


def test_a_shop_that_fits(maya: User) -> None:
    paid_automatically()
    paid_by_decision(maya, amount_minor=9900)
    paid_after_return(maya)
    declined(maya)
    RequestFactory()
    assert run_verify() == run_verify("--photos") == "verify: 5 requests, 3 refunds, 9 links: all fits\n"


def test_an_empty_shop_fits() -> None:
    assert run_verify() == "verify: 0 requests, 0 refunds, 0 links: all fits\n"


def test_a_second_attempt_after_a_late_failure_fits(maya: User) -> None:
    request = paid_by_decision(maya)
    refund = refund_of(request)
    record_outcome(refund.pk, status="failed", reason="account closed", provider_reference="", source="webhook")
    assert named(request) == ""
    assert [link.kind for link in request.chain.order_by("sequence")] == ["decision", "reserve", "outcome", "outcome"]


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
    with pytest.raises(CommandError, match="not fit"):
        run_verify()


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
    late = write_step(request.pk, Entry(kind=Step.Kind.ACTION, actor=Step.Actor.AGENT, title="Of course"))
    assert named(request) == ""
    behind_the_book(Step).filter(rev=1).update(rev=999)
    behind_the_book(Step).filter(pk=late.pk).update(rev=1)
    assert "Step" in named(request)


def test_a_refund_without_a_link_is_named() -> None:
    request = RequestFactory()
    RefundFactory(charge=request.line.order.charges.get(), request_uuid=request.uuid, reference="re_odd")
    assert named(request) == "Refund re_odd has no link in the chain."


def test_a_decision_without_a_link_is_named(maya: User) -> None:
    request = before_staff()
    Decision.objects.create(approval=request.approvals.get(), choice="decline", decided_by=maya, source="api")
    assert named(request) == "A decision has no link in the chain."


def test_a_request_that_stands_as_refunded_without_money_is_named() -> None:
    request = RequestFactory(status="refunded")
    assert named(request) == "The request stands as refunded, and no answer of the provider says so."


def test_a_refund_of_a_request_that_is_not_there_is_named() -> None:
    RefundFactory(reference="re_lost")
    assert verify_shop().misfits == ["Refund re_lost names a request that does not exist."]


@pytest.mark.parametrize("held", [0, 1, 3399])
def test_a_charge_that_holds_another_sum_is_named(held: int) -> None:
    paid_automatically()
    sql("UPDATE payments_charge SET reserved_minor = %s", held)
    [misfit] = verify_shop().misfits
    assert "for its refunds, and they come to $34.00." in misfit


def test_refunds_made_elsewhere_above_the_capture_are_no_misfit() -> None:
    charge = ChargeFactory(captured_minor=1000)
    RefundFactory(charge=charge, amount_minor=1500, request_uuid=None, key="k", held=False, status="failed")
    behind_the_book(Refund).update(status="succeeded")
    Charge.objects.update(reserved_minor=F("captured_minor"))
    assert verify_shop().fits


def rewritten(link: ChainRecord, change: Callable[[dict[str, Any]], None]) -> None:
    """The whole chain from `link` on written anew, with right hashes: what somebody with the code at hand can do."""
    change(link.facts)
    previous = link.previous_hash
    for each in [link, *link.request.chain.filter(sequence__gt=link.sequence).order_by("sequence")]:
        changed = link_hash(each.sequence, each.kind, each.subject, each.facts, previous)
        behind_the_book(ChainRecord).filter(pk=each.pk).update(facts=each.facts, hash=changed, previous_hash=previous)
        previous = changed


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


def test_a_chain_forged_as_a_whole_is_seen_by_the_anchor(maya: User) -> None:
    request = declined(maya)
    behind_the_book(ChainRecord).update(created_at=timezone.now() - timedelta(days=2))
    anchor = anchor_yesterday()
    assert anchor is not None
    link = request.chain.get()
    behind_the_book(Decision).update(note="Changed.")

    def forge(facts: dict[str, Any]) -> None:
        facts["at"] = iso(link.created_at)
        facts["decision"]["note_sha256"] = text_digest("Changed.")

    rewritten(link, forge)
    assert named(request) == ""
    [misfit] = verify_shop().misfits
    assert misfit.startswith(f"The anchor of {anchor.day} does not fit the chains")


@pytest.mark.parametrize("column", ["hash", "previous_hash", "chains", "records", "last_record_id", "day"])
def test_an_anchor_that_was_changed_is_named(maya: User, column: str) -> None:
    declined(maya)
    behind_the_book(ChainRecord).update(created_at=timezone.now() - timedelta(days=2))
    anchor_yesterday()
    value = {"hash": "x", "previous_hash": "x", "day": "2020-01-01"}.get(column, 0)
    sql(f"UPDATE agent_chainanchor SET {column} = %s", value)
    assert any(misfit.startswith("The anchor of") for misfit in verify_shop().misfits)


def test_an_anchor_that_was_taken_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for days in (2, 1, 0):
        monkeypatch.setattr("agent.anchor.shop_day", lambda now, days=days: shop_day(now) - timedelta(days=days))
        assert anchor_yesterday() is not None
    assert verify_shop().fits
    _, middle, newest = ChainAnchor.objects.order_by("day")
    behind_the_book(ChainAnchor).filter(pk=middle.pk).delete()
    assert verify_shop().misfits == [f"The anchor of {newest.day} does not hold the hash of the anchor before it."]


def test_a_picture_that_was_exchanged_is_named_when_files_are_read(own_photo_folder: Path) -> None:
    paid_automatically()
    [stored] = own_photo_folder.iterdir()
    stored.write_bytes(b"another picture")
    assert verify_shop().fits
    with pytest.raises(CommandError):
        run_verify("--photos")
    assert verify_shop(with_files=True).misfits[0].endswith("The file of photo 1 is not the picture that was sent.")
    stored.unlink()
    assert verify_shop(with_files=True).misfits[0].endswith("The file of photo 1 cannot be read.")


def test_the_list_is_bounded_and_the_rest_is_counted() -> None:
    for _ in range(MOST_NAMED + 3):
        RequestFactory(status="refunded")
    verified = verify_shop()
    assert (len(verified.misfits), verified.unnamed) == (MOST_NAMED, 3)
    out = io.StringIO()
    with pytest.raises(CommandError) as refusal:
        call_command("verify", stdout=out)
    assert refusal.value.returncode == 1
    assert out.getvalue().splitlines()[-1] == "... and 3 more."
    assert str(refusal.value) == "verify: 23 requests, 0 refunds, 0 links: 23 do not fit"


def test_verifying_takes_as_many_queries_with_2_requests_as_with_20(
    maya: User, django_assert_max_num_queries: Any
) -> None:
    for _ in range(2):
        paid_by_decision(maya)
    with django_assert_max_num_queries(20) as few:
        verify_shop()
    for _ in range(18):
        paid_by_decision(maya)
    with django_assert_max_num_queries(len(few)):
        assert verify_shop().requests == 20


def test_what_is_read_amid_a_write_is_looked_at_again(maya: User) -> None:
    request = paid_by_decision(maya)
    [pages] = read_pages([request.pk])
    pages.links.pop()
    assert first_misfit(pages) != ""
    assert second_look(request.pk) == ""
