"""The number of queries of a page does not depend on how much there is to show."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from intake.models import Photo, Question, RefundRequest, Reply
from payments.models import OrderLine
from tests.factories import ChargeFactory, LineFactory, OrderFactory, RequestFactory
from tests.intake.test_api import told

pytestmark = pytest.mark.django_db

ORDERS_PAGE = 7
REQUESTS_PAGE = 4
REQUEST_PAGE = 11
ORDERS_API = 4


def shop_with(priya: User, orders: int) -> None:
    for _ in range(orders):
        order = OrderFactory(customer=priya)
        ChargeFactory(order=order)
        for _ in range(3):
            RequestFactory(line=LineFactory(order=order), status="needs_customer")


@pytest.mark.parametrize("orders", [1, 10])
def test_orders_page(
    priyas_browser: Client, priya: User, django_assert_num_queries: Callable[[int], Any], orders: int
) -> None:
    shop_with(priya, orders)
    with django_assert_num_queries(ORDERS_PAGE):
        assert priyas_browser.get("/").status_code == 200


@pytest.mark.parametrize("orders", [1, 6])
def test_requests_page(
    priyas_browser: Client, priya: User, django_assert_num_queries: Callable[[int], Any], orders: int
) -> None:
    shop_with(priya, orders)
    with django_assert_num_queries(REQUESTS_PAGE):
        assert priyas_browser.get("/requests").status_code == 200


@pytest.mark.parametrize("orders", [1, 30])
def test_orders_of_the_api(
    priyas_api: APIClient, priya: User, django_assert_num_queries: Callable[[int], Any], orders: int
) -> None:
    shop_with(priya, orders)
    with django_assert_num_queries(ORDERS_API):
        assert len(priyas_api.get("/api/v1/orders").json()) == orders


@pytest.mark.parametrize("talks", [1, 5])
def test_request_page(
    priyas_browser: Client,
    kettle: OrderLine,
    daniel: User,
    new_photo: Callable[[User], Photo],
    django_assert_num_queries: Callable[[int], Any],
    talks: int,
) -> None:
    request = RefundRequest.objects.get(pk=RequestFactory(line=kettle, status="needs_customer").pk)
    until = timezone.now() + timedelta(days=14)
    for n in range(talks):
        told(request, 2 * n + 1, "customer", "You answered", for_customer=True)
        told(request, 2 * n + 2, "staff", "We have a question", for_customer=True, actor_user=daniel)
        question = Question.objects.create(request=request, text="And?", asked_by=daniel, reply_by=until)
        reply = Reply.objects.create(question=question, message="So.", source="page")
        Photo.objects.filter(pk=new_photo(request.customer).pk).update(reply=reply)
    Question.objects.create(request=request, text="Last one?", asked_by=daniel, reply_by=until)
    with django_assert_num_queries(REQUEST_PAGE):
        page = priyas_browser.get(f"/requests/{request.uuid}").content.decode()
    assert page.count('alt="Your photo') == talks
    assert "Last one?" in page
