"""Photos in a store that speaks S3, and what is said when it is away, hangs, or answers with an error."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from intake.models import Photo, RefundRequest
from intake.photos import NOT_STORED, keep_photo, read_photo
from intake.refusals import Refusal
from intake.tasks import read_missing_looks
from payments.models import OrderLine
from tests.factories import RequestFactory
from tests.intake.conftest import picture_file
from tests.s3_server import BREAKS_OFF, HANGS, S3Server

pytestmark = pytest.mark.django_db
REFUND = "/orders/PH-20388/refund/KTL-09"
REFUSES = "refuses"
AWAY = [REFUSES, HANGS, 500, 403]


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    with S3Server() as server:
        monkeypatch.setattr(Photo._meta.get_field("file"), "storage", server.storage())
        yield server


def goes(store: S3Server, how: str | int) -> None:
    if how == REFUSES:
        store.close()
    else:
        store.does = how


def test_a_photo_comes_back_as_it_was_kept(store: S3Server, priya: User) -> None:
    photo = keep_photo(priya, picture_file())
    assert list(store.objects) == [f"/photos/{photo.file.name}"]
    assert read_photo(Photo.objects.get()) == store.objects[f"/photos/{photo.file.name}"]


@pytest.mark.parametrize("how", [*AWAY, BREAKS_OFF])
def test_reading_from_a_store_that_is_away_is_an_os_error(store: S3Server, priya: User, how: str | int) -> None:
    keep_photo(priya, picture_file())
    goes(store, how)
    with pytest.raises(OSError) as raised:
        read_photo(Photo.objects.get())
    assert not isinstance(raised.value, FileNotFoundError)


def test_a_photo_that_the_store_does_not_have_is_missing(store: S3Server, priya: User) -> None:
    keep_photo(priya, picture_file())
    store.objects.clear()
    with pytest.raises(FileNotFoundError):
        read_photo(Photo.objects.get())


@pytest.mark.parametrize("how", AWAY)
def test_a_photo_that_the_store_does_not_take_is_refused_with_a_sentence(
    store: S3Server, priya: User, how: str | int
) -> None:
    goes(store, how)
    with pytest.raises(Refusal) as raised:
        keep_photo(priya, picture_file())
    assert (raised.value.code, raised.value.sentence, raised.value.field) == ("try_again", NOT_STORED, "photos")
    assert not Photo.objects.exists()


def test_the_api_says_try_again(store: S3Server, priyas_api: APIClient) -> None:
    store.does = 500
    answer = priyas_api.post("/api/v1/photos", {"file": picture_file()}, format="multipart")
    assert answer.json() == {"error": "try_again", "message": NOT_STORED, "field": "photos"}
    assert (answer.status_code, Photo.objects.count()) == (503, 0)


def test_the_form_keeps_what_was_typed_and_asks_the_store_once(
    store: S3Server, priyas_browser: Client, kettle: OrderLine
) -> None:
    store.does = HANGS
    sent = {"reason": "damaged", "details": "The spout is bent.", "files": [picture_file(), picture_file()]}
    answer = priyas_browser.post(REFUND, sent)
    page = unescape(answer.content.decode())
    assert (answer.status_code, page.count(f"ok_jpeg_baseline.jpg: {NOT_STORED}")) == (400, 2)
    assert ("The spout is bent." in page, len(store.asked)) == (True, 1)
    assert (Photo.objects.count(), RefundRequest.objects.count()) == (0, 0)


def test_pages_and_tasks_go_on_without_the_store(store: S3Server, priya: User, priyas_browser: Client) -> None:
    photo = keep_photo(priya, picture_file())
    Photo.objects.update(request=RequestFactory(customer=priya), looks=[])
    store.does = 500
    assert priyas_browser.get(f"/photos/{photo.pk}").status_code == 404
    assert read_missing_looks() == 0
