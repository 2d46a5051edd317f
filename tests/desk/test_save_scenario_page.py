"""Before a scenario is downloaded the page says what was looked for, and what only a reader can find."""

from __future__ import annotations

import html
import re

import pytest
from django.test import Client

from agent.evaluation.neutral_text import KINDS
from tests.desk.rows import kettle_request

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_photo_folder")]


def page_of(lead: Client, details: str) -> str:
    request = kettle_request("declined", details=details)
    answer = lead.get(f"/desk/requests/{request.uuid}/scenario")
    assert answer.status_code == 200
    return answer.content.decode()


def words_of(page: str) -> str:
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", page)).split())


def test_every_kind_that_is_replaced_is_named_with_how_often_it_was_found(lead: Client) -> None:
    page = page_of(lead, "PRIYA RAMAN and priya’s mug, 12 main street; 415–555–2671x12.")
    listed = re.findall(r"<b class=\"num\">(\d+) ×</b> ([^<]+)</li>", page)
    found = {"name of the customer": "2", "postal address": "1", "phone or other long number": "1"}
    assert listed == [(found.get(kind, "0"), kind) for kind in KINDS]


def test_the_page_says_before_the_download_what_a_reader_has_to_find(lead: Client) -> None:
    page = page_of(lead, "It came broken.")
    assert page.index("Not found, so read every text below") < page.index("scenario.zip")
    words = words_of(page)
    assert "names of people the shop does not know" in words
    assert "places in words: a town, an employer, a school" in words
    assert "Dates from three years before the request to the year after it, prices, sizes and counts stay" in words
