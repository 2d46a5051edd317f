"""What two callers at the same moment make of the demo shop and of the first policy."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest
from django.db import connection

from intake.models import Photo, PolicySection, PolicyVersion, RefundRequest
from intake.policy_in_force import policy_in_force
from payments.models import Order
from refunddesk.demo_shop.reset_shop import reset_demo_shop
from refunddesk.demo_shop.seed_shop import seed_demo_shop

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_photo_folder")]

Result = TypeVar("Result")


def at_once(act: Callable[[], Result], times: int) -> list[Result]:
    def in_its_own_connection() -> Result:
        try:
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(times) as pool:
        return [future.result() for future in [pool.submit(in_its_own_connection) for _ in range(times)]]


def test_many_who_miss_the_policy_get_the_same_one() -> None:
    PolicySection.objects.all().delete()
    PolicyVersion.objects.all().delete()
    numbers = at_once(lambda: policy_in_force().pk, 6)
    assert len(set(numbers)) == 1
    assert PolicyVersion.objects.count() == 1
    assert PolicySection.objects.count() == 7


def test_two_seeds_at_once_fill_the_shop_once(own_photo_folder: Path) -> None:
    added = at_once(seed_demo_shop, 2)
    assert sorted(each.orders for each in added) == [0, 21]
    assert sorted(each.requests for each in added) == [0, 9]
    assert Order.objects.count() == 21
    assert RefundRequest.objects.count() == 9
    assert len(list(own_photo_folder.iterdir())) == 7


def test_two_resets_at_once_leave_one_first_day(own_photo_folder: Path) -> None:
    seed_demo_shop()
    at_once(reset_demo_shop, 2)
    assert [request.number for request in RefundRequest.objects.order_by("pk")] == list(range(1001, 1010))
    assert {file.name for file in own_photo_folder.iterdir()} == set(Photo.objects.values_list("file", flat=True))
