from __future__ import annotations

import logging

import pytest
from django.contrib.auth.models import User

from agent.models import Switch, SwitchThrow
from agent.pause import automatic_refunds_paused, set_automatic_refunds
from intake.refusals import Refusal
from tests.factories import CustomerFactory, StaffFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def lead(db: None) -> User:
    return StaffFactory(permissions=["agent.change_switch"])


def thrown() -> list[tuple[bool, str, User]]:
    return [(throw.paused, throw.reason, throw.thrown_by) for throw in SwitchThrow.objects.all()]


def test_automatic_refunds_are_on_until_somebody_pauses_them(lead: User) -> None:
    assert not automatic_refunds_paused()
    set_automatic_refunds(paused=True, by=lead, reason=" Bank holiday ")
    assert automatic_refunds_paused()
    switch = Switch.objects.get()
    assert (switch.reason, switch.changed_by) == ("Bank holiday", lead)
    set_automatic_refunds(paused=False, by=lead)
    assert not automatic_refunds_paused()
    assert Switch.objects.count() == 1


def test_every_throw_is_kept_with_who_when_and_why(lead: User) -> None:
    other = StaffFactory(permissions=["agent.change_switch"])
    set_automatic_refunds(paused=True, by=lead, reason="Fraud wave")
    newest = set_automatic_refunds(paused=False, by=other)
    assert thrown() == [(False, "", other), (True, "Fraud wave", lead)]
    assert newest == SwitchThrow.objects.first()
    assert newest is not None
    assert newest.created_at == Switch.objects.get().changed_at


def test_a_throw_is_told_to_the_log(lead: User, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="agent.pause"):
        set_automatic_refunds(paused=True, by=lead, reason="Fraud\nwave")
        set_automatic_refunds(paused=True, by=lead, reason="again")
        set_automatic_refunds(paused=False, by=lead)
    assert [record.getMessage() for record in caplog.records] == [
        f"automatic refunds paused by user {lead.pk}: 'Fraud\\nwave'",
        f"automatic refunds turned on by user {lead.pk}: ''",
    ]


def test_throwing_it_to_where_it_stands_is_no_throw(lead: User) -> None:
    assert set_automatic_refunds(paused=False, by=lead) is None
    set_automatic_refunds(paused=True, by=lead, reason="Fraud wave")
    before = Switch.objects.values().get()
    assert set_automatic_refunds(paused=True, by=lead, reason="Something else") is None
    assert Switch.objects.values().get() == before
    assert thrown() == [(True, "Fraud wave", lead)]


def test_only_a_lead_throws_the_switch(maya: User) -> None:
    for person in (maya, CustomerFactory()):
        with pytest.raises(Refusal) as refused:
            set_automatic_refunds(paused=True, by=person)
        assert refused.value.code == "forbidden"
    assert not Switch.objects.exists()
    assert not SwitchThrow.objects.exists()
