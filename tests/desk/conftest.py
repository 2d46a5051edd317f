from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from tests.desk.rows import member_of, onlooker


@pytest.fixture(autouse=True)
def no_counts() -> None:
    """Of what other tests tried from the same address."""
    cache.clear()


@pytest.fixture
def maya(db: None) -> User:
    return member_of("lead", "Maya", "Okafor")


@pytest.fixture
def daniel(db: None) -> User:
    return member_of("support", "Daniel", "Reyes")


@pytest.fixture
def lead(maya: User) -> Client:
    client = Client()
    client.force_login(maya)
    return client


@pytest.fixture
def support(daniel: User) -> Client:
    client = Client()
    client.force_login(daniel)
    return client


@pytest.fixture
def looking(db: None) -> Client:
    """Staff who may see the desk and do nothing."""
    client = Client()
    client.force_login(onlooker())
    return client
