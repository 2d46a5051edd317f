"""`verify` computes the book again and names the first thing that does not fit, whatever was changed behind it."""

from __future__ import annotations

import io
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db.models import F
from django.utils import timezone

from agent.anchor import anchor_yesterday, noted
from agent.canonical import iso
from agent.facts import shop_day
from agent.link_facts import text_digest
from agent.models import ChainAnchor, ChainRecord, Decision
from agent.verify.one_request import first_misfit, second_look
from agent.verify.pages import read_pages
from agent.verify.shop import MOST_NAMED, verify_shop
from intake.models import RefundRequest
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
from tests.agent.falsify import named, rewritten, sql
from tests.behind_the_book import behind_the_book
from tests.factories import ChargeFactory, RefundFactory, RequestFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_photo_folder", "rung", "worded_decline")]


def run_verify(*options: str) -> str:
    out = io.StringIO()
    call_command("verify", *options, stdout=out)
    return out.getvalue()


def test_a_shop_that_fits(maya: User) -> None:
    paid_automatically()
    paid_by_decision(maya, amount_minor=9900)
    paid_after_return(maya)
    declined(maya)
    RequestFactory()
    assert run_verify() == run_verify("--photos")
    assert run_verify().splitlines()[0] == "verify: 5 requests, 3 refunds, 9 links: all fits"


def test_an_empty_shop_fits() -> None:
    assert run_verify() == "verify: 0 requests, 0 refunds, 0 links: all fits\n"


def test_a_second_attempt_after_a_late_failure_fits(maya: User) -> None:
    request = paid_by_decision(maya)
    refund = refund_of(request)
    record_outcome(refund.pk, status="failed", reason="account closed", provider_reference="", source="webhook")
    assert named(request) == ""
    assert [link.kind for link in request.chain.order_by("sequence")] == ["decision", "reserve", "outcome", "outcome"]


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


def test_a_book_written_anew_with_all_its_anchors_does_not_fit_one_that_was_kept_elsewhere(
    maya: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    declined(maya)
    monkeypatch.setattr("agent.anchor.shop_day", lambda now: shop_day(now) + timedelta(days=1))
    anchor = anchor_yesterday()
    assert anchor is not None
    kept = noted(anchor)
    assert run_verify("--held", kept).splitlines()[1] == f"newest anchor, to be kept elsewhere: {kept}"
    behind_the_book(ChainRecord).all().delete()
    behind_the_book(Decision).all().delete()
    behind_the_book(ChainAnchor).all().delete()
    RefundRequest.objects.update(status="working")
    assert anchor_yesterday() is not None
    assert verify_shop().fits
    assert verify_shop(held=[kept]).misfits == [
        f"The anchor of {anchor.day} is not the one that was kept elsewhere: the book was written anew."
    ]
    with pytest.raises(CommandError, match="1 does not fit"):
        run_verify("--held", kept.upper())


def test_each_anchor_is_told_in_the_log(maya: User, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "agent.anchor"):
        anchor = anchor_yesterday()
        anchor_yesterday()
    assert anchor is not None
    assert caplog.messages == [f"anchor {anchor.day.isoformat()}:{anchor.hash}"]


@pytest.mark.parametrize("given", ["", "2026-11-29", "2026-13-01:" + 64 * "a", "2026-11-29:" + 63 * "a", "x\n:y"])
def test_what_is_no_anchor_is_refused_with_a_sentence(given: str) -> None:
    with pytest.raises(CommandError, match="is no anchor"):
        run_verify("--held", given)


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
    with django_assert_max_num_queries(22) as few:
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
