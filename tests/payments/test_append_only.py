"""What is written in the book stays: no door of the ORM rewrites or deletes it, only the named fields move on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import FileSystemStorage
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from agent.anchor import anchor_yesterday
from agent.models import ChainAnchor, ChainRecord, Decision, SwitchThrow
from agent.pause import set_automatic_refunds
from intake.models import Photo, Step
from intake.timeline import Entry, finish_step, write_step
from payments.append_only import AppendOnly, AppendOnlyError
from payments.models import Charge, Order, Refund, RefundOutcome
from tests.agent.book_cases import paid_by_decision
from tests.behind_the_book import behind_the_book
from tests.factories import ChargeFactory, RefundFactory, RequestFactory, StaffFactory

pytestmark = pytest.mark.django_db

# model, a field that is fixed, its other value
FIXED: list[tuple[type[AppendOnly], str, Any]] = [
    (Charge, "captured_minor", 1),
    (Charge, "card_last4", "0000"),
    (Refund, "amount_minor", 1),
    (Refund, "key", "other"),
    (Refund, "request_uuid", None),
    (RefundOutcome, "status", "failed"),
    (RefundOutcome, "reason", "other"),
    (Step, "position", 99),
    (Step, "created_at", timezone.now()),
    (Decision, "choice", "decline"),
    (Decision, "amount_minor", 1),
    (ChainRecord, "facts", {}),
    (ChainRecord, "hash", "0"),
    (ChainAnchor, "hash", "0"),
    (SwitchThrow, "reason", "other"),
]
MODELS: list[type[AppendOnly]] = [Charge, Refund, RefundOutcome, Step, Decision, ChainRecord, ChainAnchor, SwitchThrow]
MOVES: list[tuple[type[AppendOnly], dict[str, Any]]] = [
    (Charge, {"reserved_minor": 1}),
    (Refund, {"status": "failed", "failure_reason": "no", "pending_reason": "", "asked_at": None, "settled_at": None}),
    (Refund, {"provider_reference": "other"}),
    (Decision, {"carried_out_at": None, "set_aside_at": None}),
]


@pytest.fixture
def rows(db: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """At least one row of each model."""
    monkeypatch.setattr("agent.announce.ring", lambda run_id: True)
    monkeypatch.setattr(Photo._meta.get_field("file"), "storage", FileSystemStorage(location=tmp_path))
    paid_by_decision(StaffFactory())
    anchor_yesterday()
    set_automatic_refunds(paused=True, by=StaffFactory(permissions=["agent.change_switch"]))


def all_rows() -> list[dict[str, Any]]:
    return [dict(row) for model in MODELS for row in behind_the_book(model).order_by("pk").values()]


KEPT = "it may not be deleted"
WHOLE = "say which fields move on"


def refused(act: Callable[[], object], because: str) -> None:
    before = all_rows()
    with pytest.raises(AppendOnlyError, match=because), transaction.atomic():
        act()
    assert all_rows() == before


@pytest.mark.parametrize(("model", "field", "value"), FIXED)
@pytest.mark.usefixtures("rows")
def test_a_fixed_field_is_refused_at_every_door(model: type[AppendOnly], field: str, value: Any) -> None:
    row: Any = behind_the_book(model).first()
    fixed = f"; {field} may not be changed"
    saved, with_its_dates = fixed, rf"\b{field}\b.* may not be changed"
    if model.CHANGEABLE_WHILE is not None:
        saved = with_its_dates = WHOLE
    refused(lambda: model.objects.update(**{field: value}), fixed)
    refused(lambda: model.objects.filter(pk=row.pk).update(**{field: value}), fixed)
    changed: Any = behind_the_book(model).get(pk=row.pk)
    setattr(changed, field, value)
    refused(changed.save, WHOLE)
    refused(lambda: changed.save(update_fields=[field]), saved)
    refused(lambda: model.objects.bulk_update([changed], [field]), fixed)
    refused(lambda: model.objects.update_or_create(pk=row.pk, defaults={field: value}), with_its_dates)
    upsert: dict[str, Any] = {"update_conflicts": True, "unique_fields": ["id"], "update_fields": [field]}
    refused(lambda: model.objects.bulk_create([changed], **upsert), fixed)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.usefixtures("rows")
def test_no_row_is_deleted(model: type[AppendOnly]) -> None:
    row: Any = model.objects.first()
    refused(row.delete, KEPT)
    refused(model.objects.all().delete, KEPT)
    refused(model.objects.filter(pk=row.pk).delete, KEPT)
    refused(lambda: model.objects.all()._raw_delete("default"), KEPT)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.usefixtures("rows")
def test_a_new_row_with_an_old_key_is_never_an_update(model: type[AppendOnly]) -> None:
    row: Any = behind_the_book(model).first()
    values = {field.attname: getattr(row, field.attname) for field in model._meta.concrete_fields}
    before = all_rows()
    with pytest.raises(IntegrityError), transaction.atomic():
        model(**values).save()
    assert all_rows() == before


@pytest.mark.usefixtures("rows")
def test_a_whole_row_is_not_saved_again_even_unchanged() -> None:
    refused(Refund.objects.get().save, WHOLE)


@pytest.mark.parametrize(("model", "changes"), MOVES)
@pytest.mark.usefixtures("rows")
def test_what_moves_on_may(model: type[AppendOnly], changes: dict[str, Any]) -> None:
    assert model.objects.update(**changes) == 1
    row: Any = model.objects.get()
    row.save(update_fields=list(changes))
    assert {name: getattr(model.objects.get(), name) for name in changes} == changes


@pytest.mark.usefixtures("rows")
def test_the_rows_of_a_parent_are_guarded_too() -> None:
    order = Order.objects.get()
    refused(lambda: order.charges.update(captured_minor=1), "; captured_minor may not be changed")
    refused(order.charges.all().delete, KEPT)
    refused(Refund.objects.get().outcomes.all().delete, KEPT)


def test_a_step_changes_only_while_it_runs() -> None:
    request = RequestFactory()
    entry = Entry(kind=Step.Kind.TOOL, actor=Step.Actor.AGENT, title="Looking", state=Step.State.RUNNING)
    step = write_step(request.pk, entry)
    finish_step(step.pk, title="Looked")
    step.refresh_from_db()
    assert (step.title, step.state) == ("Looked", "done")
    finish_step(step.pk, title="Looked away")
    assert Step.objects.filter(pk=step.pk).update(title="Looked away") == 0
    refused(lambda: step.save(update_fields=["title"]), WHOLE)
    step.refresh_from_db()
    assert step.title == "Looked"


def test_new_rows_come_in_by_the_usual_doors() -> None:
    charge = ChargeFactory(captured_minor=5000)
    made = [Refund(charge=charge, key=f"k{n}", reference=f"re_k{n}", currency="USD", amount_minor=1) for n in (1, 2)]
    Refund.objects.bulk_create(made)
    refund, created = Refund.objects.get_or_create(key="k1", defaults={"amount_minor": 9})
    assert (created, refund.amount_minor, Refund.objects.count()) == (False, 1, 2)


def test_the_sum_of_a_charge_is_counted_in_the_database() -> None:
    refund = RefundFactory()
    Charge.objects.filter(pk=refund.charge_id).update(reserved_minor=F("reserved_minor") + 1)
    assert Charge.objects.get().reserved_minor == refund.amount_minor + 1


def test_the_guards_need_no_migration() -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)
