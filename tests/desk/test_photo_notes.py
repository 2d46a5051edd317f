"""Beside a picture staff read size, camera and the other requests it was sent with; customers none of it."""

from __future__ import annotations

import html
import re
import uuid
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from intake.look_alikes import Reuse, reuses
from intake.models import Photo, RefundRequest
from intake.photos import read_photo
from tests.desk.rows import card_for, kettle_request
from tests.desk.test_query_counts import queries_of
from tests.factories import RequestFactory
from tests.intake.test_camera_facts import picture_with
from tests.intake.test_look_alikes import answer_to, changed, demo, sent_with

FIELD = Path(__file__).parents[1] / "field" / "images"
MARKERS = ("SAMPLE OWNER NAME", "SERIAL-SAMPLE-0001", "SAMPLE-PRIVATE-CAPTION", "SAMPLE-USER-COMMENT")

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def unrung(own_photo_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.announce.ring", lambda run_id: True)


def address(request: RefundRequest) -> str:
    return f"/desk/queue/needs-approval/{request.uuid}/"


def read(client: Client, where: str) -> str:
    """The page as it reads, without tags and with single spaces."""
    answer = client.get(where)
    assert answer.status_code == 200
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).split())


def test_size_camera_and_other_requests_stand_beside_the_photo(support: Client) -> None:
    first, request = RequestFactory(), kettle_request()
    card_for(request)
    sent_with(first, demo("kettle-dented-lid"))
    sent_with(request, demo("kettle-dented-lid"))
    like = sent_with(request, changed(demo("kettle-dented-lid")))
    sent_with(request, picture_with(taken="2020:03:03 10:12:00", make="Canon", model="EOS R6"))
    page = read(support, address(request))
    assert f"Photo 1 1400 × 1050 Already sent with request #{first.number}" in page
    assert f"Photo 2 {like.width} × {like.height} Looks like one sent with request #{first.number}" in page
    assert "Photo 3 80 × 60 · Canon EOS R6 Taken 3 March 2020 10:12 by camera clock, " in page
    assert " days before the order was placed Found with no other request" in page
    link = f'<a href="{reverse("admin:find-case", args=[first.uuid])}">request #{first.number}</a>'
    assert support.get(address(request)).content.decode().count(link) == 2


def test_a_plain_photo_says_why_it_is_not_compared(support: Client) -> None:
    request = kettle_request()
    card_for(request)
    sent_with(request, (FIELD / "all_black.jpg").read_bytes())
    assert "Shows too little to be compared with other photos" in read(support, address(request))


def test_the_photos_of_an_answer_have_their_notes_too(support: Client) -> None:
    first, request = RequestFactory(), kettle_request()
    card_for(request)
    sent_with(first, demo("kettle-dented-lid"))
    sent_with(answer_to(request), changed(demo("kettle-dented-lid")))
    assert f"Looks like one sent with request #{first.number}" in read(support, address(request))


def test_what_a_camera_calls_itself_is_text_and_never_markup(support: Client) -> None:
    request = kettle_request()
    card_for(request)
    photo = sent_with(request, picture_with(taken="2026:03:03 10:12:00"))
    Photo.objects.filter(pk=photo.pk).update(camera={"device": "<b>bold</b>", "taken": "<i>"})
    page = support.get(address(request)).content.decode()
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    assert "<b>bold</b>" not in page


def test_an_open_case_takes_as_many_queries_with_five_photos_as_with_one(support: Client) -> None:
    request = kettle_request()
    card_for(request)
    names = ("kettle-dented-lid", "kettle-dented-spout", "carafe-cracked", "mugs-cracked-rim", "tamper-dented-base")
    sent_with(request, demo(names[0]))
    few = queries_of(support, address(request))
    for name in names[1:]:
        sent_with(request, demo(name))
        sent_with(RequestFactory(), changed(demo(name)))
    assert queries_of(support, address(request)) == few


def test_an_act_compares_no_pictures(support: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither its form nor its doing; the page that shows them does, once."""
    request, waiting = kettle_request(), kettle_request("needs_customer")
    card = card_for(request)
    for each in (request, waiting):
        sent_with(each, demo("kettle-dented-lid"))
    compared: list[int] = []

    def counted(photos: Sequence[Photo], *, besides: int) -> dict[uuid.UUID, list[Reuse]]:
        compared.append(besides)
        return reuses(photos, besides=besides)

    monkeypatch.setattr("desk.photo_notes.reuses", counted)
    form = {"card": str(card.pk), "choice": "approve"}
    assert support.get(f"/desk/requests/{request.uuid}/decide", form).status_code == 200
    assert support.post(f"/desk/requests/{waiting.uuid}/take-back", headers={"HX-Request": "true"}).status_code == 204
    assert compared == []
    assert f"Already sent with request #{waiting.number}" in read(support, address(request))
    assert compared == [request.pk]


def test_a_photo_older_than_what_is_compared_is_still_found_by_its_file(support: Client) -> None:
    first, request = RequestFactory(), kettle_request()
    card_for(request)
    for each in (first, request):
        sent_with(each, demo("kettle-dented-lid"))
    Photo.objects.update(created_at=timezone.now() - timedelta(days=800))
    assert f"Already sent with request #{first.number}" in read(support, address(request))


def everything_stored() -> str:
    """Each text of each table, as the database gives it."""
    with connection.cursor() as cursor:
        rows = []
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            rows += cursor.fetchall()
    return str(rows)


def test_a_place_an_owner_and_a_serial_number_are_kept_nowhere(support: Client) -> None:
    request = kettle_request()
    card_for(request)
    original = (FIELD / "exif_gps_and_owner.jpg").read_bytes()
    photo = sent_with(request, original)
    with_time = sent_with(request, picture_with(taken="2026:03:03 10:12:00", make="Canon"))
    page, stored = support.get(address(request)).content.decode(), everything_stored()
    for marker in MARKERS:
        assert marker.encode() in original
        assert marker.encode() not in read_photo(photo) + read_photo(with_time)
        assert marker not in page
        assert marker not in stored
    assert set(photo.camera) | set(with_time.camera) <= {"taken", "device"}


def test_customers_read_none_of_it(client: Client) -> None:
    first = RequestFactory()
    sent_with(first, demo("kettle-dented-lid"))
    request = kettle_request("working")
    photo = sent_with(request, demo("kettle-dented-lid"))
    Photo.objects.filter(pk=photo.pk).update(camera={"device": "Canon EOS R6", "taken": "2020-03-03T10:12:00"})
    client.force_login(request.customer)
    upload = client.post("/api/v1/photos", {"file": (FIELD / "reused_photo_a.jpg").open("rb")})
    assert set(upload.json()) == {"id", "width", "height"}
    answers = [
        client.get(f"/requests/{request.uuid}"),
        client.get(f"/api/v1/requests/{request.uuid}"),
        client.get("/requests"),
        client.get("/api/v1/orders"),
    ]
    assert [answer.status_code for answer in answers] == [200] * 4
    for answer in answers:
        text = answer.content.decode()
        for hidden in ("Canon", "2020", "camera", "looks", "already sent", f"#{first.number}", photo.looks[1][:16]):
            assert hidden not in text
