"""A customer with a delivered kettle, and pictures to send."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from rest_framework.test import APIClient

from intake.models import Photo, PolicyVersion
from intake.photos import keep_photo
from intake.policy_in_force import policy_in_force
from payments.models import OrderLine
from tests.factories import ChargeFactory, CustomerFactory, LineFactory, OrderFactory, StaffFactory

IMAGES = Path(__file__).parent.parent / "field" / "images"


def picture_file(name: str = "ok_jpeg_baseline.jpg") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, (IMAGES / name).read_bytes(), content_type="image/jpeg")


@pytest.fixture(autouse=True)
def nobody_guessed_passwords() -> None:
    cache.clear()


@pytest.fixture
def policy(db: None) -> PolicyVersion:
    return policy_in_force()


@pytest.fixture
def priya(policy: PolicyVersion) -> User:
    return CustomerFactory(username="priya.raman@example.com")


@pytest.fixture
def imported(priya: User) -> User:
    """Priya, who has no password yet."""
    priya.set_unusable_password()
    priya.save()
    return priya


@pytest.fixture
def aiko(policy: PolicyVersion) -> User:
    return CustomerFactory(username="aiko.tanaka@example.com", first_name="Aiko", last_name="Tanaka")


@pytest.fixture
def daniel(policy: PolicyVersion) -> User:
    return StaffFactory(first_name="Daniel", last_name="Reyes")


@pytest.fixture
def kettle(priya: User) -> OrderLine:
    order = OrderFactory(customer=priya, number="PH-20388")
    ChargeFactory(order=order, captured_minor=12_900)
    return LineFactory(order=order, sku="KTL-09", name="Gooseneck kettle, 0.9 L", unit_price_minor=12_900)


@pytest.fixture
def new_photo() -> Callable[[User], Photo]:
    return lambda owner: keep_photo(owner, picture_file())


@pytest.fixture
def priyas_browser(client: Client, priya: User) -> Client:
    client.force_login(priya)
    return client


@pytest.fixture
def priyas_api(priya: User) -> APIClient:
    return api_client(priya)


def api_client(user: User) -> APIClient:
    from_user = APIClient()
    from_user.force_authenticate(user)
    return from_user
