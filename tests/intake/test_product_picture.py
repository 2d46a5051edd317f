"""The demo's articles are shown with their pictures; a shop without pictures shows none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from pytest_django.fixtures import Settings

from intake.templatetags.product_picture import product_picture
from refunddesk.demo_shop.orders import ARTICLES
from tests.factories import LineFactory


def test_every_article_of_the_demo_has_its_picture(settings: Settings) -> None:
    settings.DEMO = True
    for sku in ARTICLES:
        assert product_picture(sku) == f"/static/demo/products/{sku}.jpg"
        assert Path(str(finders.find(f"demo/products/{sku}.jpg"))).stat().st_size < 40_000


@pytest.mark.parametrize("sku", ["KTL-10", "../KTL-09", "a/b", "", ".hidden", "KTL-09\n", "x" * 65, "%2e%2e"])
def test_what_has_no_picture_or_is_no_name_of_a_file_has_none(settings: Settings, sku: str) -> None:
    settings.DEMO = True
    assert product_picture(sku) == ""


def test_a_real_shop_does_not_show_the_demos_pictures(settings: Settings) -> None:
    settings.DEMO = False
    assert product_picture("KTL-09") == ""


def test_a_picture_that_was_not_collected_is_left_out(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise ValueError(f"no entry for {name}")

    settings.DEMO = True
    monkeypatch.setattr("intake.templatetags.product_picture.static", missing)
    assert product_picture("KTL-09") == ""


@pytest.mark.django_db
def test_the_order_page_shows_the_picture_as_ornament_beside_the_name(client: Client, settings: Settings) -> None:
    settings.DEMO = True
    line = LineFactory(sku="KTL-09")
    LineFactory(order=line.order, sku="NO-PICTURE")
    client.force_login(line.order.customer)
    page = client.get("/").content.decode()
    assert re.findall(r"<img [^>]*>", page) == [
        '<img src="/static/demo/products/KTL-09.jpg" alt="" width="64" height="64" loading="lazy">'
    ]
