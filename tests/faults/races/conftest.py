"""No broker, a review that sees a clear photo, and no run that stumbles unseen."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User

from tests.factories import PolicyFactory, StaffFactory
from tests.faults.clear_review import clear_review


@pytest.fixture(autouse=True)
def quiet_bell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.announce.ring", lambda run_id: True)
    monkeypatch.setattr("agent.jobs.review.review", clear_review)


@pytest.fixture
def no_stumbling(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A deadlock or a lost race that ends in an exception would be repaired by the next try, and must not happen."""
    yield
    errors = [record.getMessage() for record in caplog.get_records("call") if record.levelno >= logging.ERROR]
    assert errors == []


@pytest.fixture
def staff(transactional_db: None) -> tuple[User, User]:
    PolicyFactory()
    return StaffFactory(), StaffFactory(first_name="Daniel", last_name="Reyes")
