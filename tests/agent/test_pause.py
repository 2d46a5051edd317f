from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from agent.models import Switch
from agent.pause import automatic_refunds_paused, set_automatic_refunds
from intake.refusals import Refusal
from tests.factories import CustomerFactory, StaffFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def lead(db: None) -> User:
    return StaffFactory(permissions=["agent.change_switch"])


def test_automatic_refunds_are_on_until_somebody_pauses_them(lead: User) -> None:
    assert not automatic_refunds_paused()
    switch = set_automatic_refunds(paused=True, by=lead, reason=" Bank holiday ")
    assert automatic_refunds_paused()
    assert (switch.reason, switch.changed_by) == ("Bank holiday", lead)
    set_automatic_refunds(paused=False, by=lead)
    assert not automatic_refunds_paused()
    assert Switch.objects.count() == 1


def test_only_a_lead_throws_the_switch(maya: User) -> None:
    for person in (maya, CustomerFactory()):
        with pytest.raises(Refusal) as refused:
            set_automatic_refunds(paused=True, by=person)
        assert refused.value.code == "forbidden"
    assert not Switch.objects.exists()
