"""A picture is found in other requests by its file and by its looks, whoever sent it, and quickly among many."""

from __future__ import annotations

import io
import time
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from numpy.typing import NDArray
from PIL import Image, ImageEnhance

from intake import look_alikes
from intake.look_alikes import photos_of, reuses
from intake.models import Photo, Question, RefundRequest, Reply
from intake.photos import keep_photo, lock_photos
from intake.picture import ORIENTATION_TAG
from intake.picture_looks import SIDE, hashes_of
from intake.shelf_of_looks import ShelfKeeper
from tests.factories import RequestFactory, StaffFactory

DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "photos"

pytestmark = pytest.mark.django_db


def demo(name: str) -> bytes:
    return (DEMO / f"{name}.jpg").read_bytes()


def changed(data: bytes) -> bytes:
    """A third smaller, cut on two sides and saved again."""
    with Image.open(io.BytesIO(data)) as image:
        width, height = image.size
        part = image.crop((round(0.12 * width), 0, width, round(0.9 * height)))
        out = io.BytesIO()
        part.resize((part.width * 2 // 3, part.height * 2 // 3)).save(out, "JPEG", quality=60)
    return out.getvalue()


def turned(data: bytes, way: Image.Transpose = Image.Transpose.ROTATE_90) -> bytes:
    with Image.open(io.BytesIO(data)) as image:
        out = io.BytesIO()
        image.transpose(way).save(out, "JPEG", quality=85)
    return out.getvalue()


def held_as(data: bytes, orientation: int) -> bytes:
    """The same picture with another word of the camera about how it was held."""
    with Image.open(io.BytesIO(data)) as image:
        exif, out = Image.Exif(), io.BytesIO()
        exif[ORIENTATION_TAG] = orientation
        image.save(out, "JPEG", quality=90, exif=exif.tobytes())
    return out.getvalue()


def sent_with(request: RefundRequest | Reply, data: bytes) -> Photo:
    owner = request.customer if isinstance(request, RefundRequest) else request.question.request.customer
    photo = keep_photo(owner, SimpleUploadedFile("photo.jpg", data))
    lock_photos(owner, [photo.pk], to=request)
    return photo


def answer_to(request: RefundRequest) -> Reply:
    question = Question.objects.create(
        request=request, text="Again, please.", asked_by=StaffFactory(), reply_by=timezone.now()
    )
    return Reply.objects.create(question=question, message="Here.", source="page")


def found(request: RefundRequest, **limits: Any) -> list[tuple[int, bool]]:
    used = reuses(photos_of(request.pk), besides=request.pk, **limits)
    return [(reuse.number, reuse.same_file) for reused in used.values() for reuse in reused]


def test_the_same_file_and_a_changed_copy_are_told_apart() -> None:
    first, same, like, other = (RequestFactory() for _ in range(4))
    sent_with(first, demo("kettle-dented-lid"))
    sent_with(same, demo("kettle-dented-lid"))
    sent_with(like, changed(demo("kettle-dented-lid")))
    sent_with(other, demo("kettle-dented-spout"))
    assert found(first) == [(same.number, True), (like.number, False)]
    assert found(like) == [(first.number, False), (same.number, False)]
    assert found(other) == []


@pytest.mark.parametrize("way", list(Image.Transpose))
def test_a_turned_or_mirrored_copy_is_found_either_way_round(way: Image.Transpose) -> None:
    first, again = RequestFactory(), RequestFactory()
    sent_with(first, demo("kettle-dented-lid"))
    sent_with(again, turned(changed(demo("kettle-dented-lid")), way))
    sent_with(RequestFactory(), turned(demo("kettle-dented-spout"), way))
    assert (found(again), found(first)) == ([(first.number, False)], [(again.number, False)])


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_copy_that_only_claims_it_was_held_otherwise_is_found(orientation: int) -> None:
    first, again = RequestFactory(), RequestFactory()
    sent_with(first, demo("carafe-cracked"))
    sent_with(again, held_as(demo("carafe-cracked"), orientation))
    assert found(again) == [(first.number, False)]


def test_turned_copies_are_left_out_when_they_were_not_looked_for() -> None:
    first, mirrored, again = (RequestFactory() for _ in range(3))
    sent_with(first, turned(demo("carafe-cracked")))
    sent_with(mirrored, turned(demo("carafe-cracked"), Image.Transpose.FLIP_LEFT_RIGHT))
    sent_with(again, demo("carafe-cracked"))
    assert found(again, turned=False) == [(mirrored.number, False)]
    assert found(again) == [(first.number, False), (mirrored.number, False)]


def test_the_customers_own_earlier_request_counts_too() -> None:
    first = RequestFactory(status="declined")
    again = RequestFactory(customer=first.customer, line__order__customer=first.customer)
    sent_with(first, demo("carafe-cracked"))
    sent_with(again, changed(demo("carafe-cracked")))
    assert found(again) == [(first.number, False)]


def test_a_request_and_its_own_answers_are_one() -> None:
    request = RequestFactory()
    sent_with(request, demo("carafe-cracked"))
    sent_with(answer_to(request), demo("carafe-cracked"))
    sent_with(answer_to(request), changed(demo("carafe-cracked")))
    assert found(request) == []


def test_a_picture_of_anothers_answer_is_found_and_names_its_request() -> None:
    earlier, request = RequestFactory(), RequestFactory()
    sent_with(answer_to(earlier), demo("carafe-cracked"))
    sent_with(request, changed(demo("carafe-cracked")))
    assert found(request) == [(earlier.number, False)]


def test_an_upload_that_no_request_uses_counts_for_nothing() -> None:
    request = RequestFactory()
    keep_photo(RequestFactory().customer, SimpleUploadedFile("photo.jpg", demo("carafe-cracked")))
    sent_with(request, demo("carafe-cracked"))
    assert found(request) == []


def black(width: int = 640) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, 480)).save(out, "PNG")
    return out.getvalue()


def test_plain_pictures_are_found_as_the_same_file_only() -> None:
    first, again, other = (RequestFactory() for _ in range(3))
    assert sent_with(first, black()).digest == sent_with(again, black()).digest
    sent_with(other, black(600))
    assert (found(again), found(other)) == ([(first.number, True)], [])


def test_one_picture_sent_many_times_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_alikes, "MOST_ROWS_OF_ONE", 2)
    crowd, first, again = [RequestFactory() for _ in range(4)], RequestFactory(), RequestFactory()
    for request in crowd:
        sent_with(request, black())
    sent_with(first, demo("carafe-cracked"))
    sent_with(again, black())
    sent_with(again, demo("carafe-cracked"))
    assert found(again) == [(crowd[0].number, True), (crowd[1].number, True), (first.number, True)]


def pale(data: bytes, contrast: float = 0.2) -> bytes:
    with Image.open(io.BytesIO(data)) as image:
        out = io.BytesIO()
        ImageEnhance.Contrast(image.convert("RGB")).enhance(contrast).save(out, "JPEG", quality=92)
    return out.getvalue()


def test_a_pale_copy_is_found_either_way_round() -> None:
    bright, light = RequestFactory(), RequestFactory()
    sent_with(bright, demo("carafe-cracked"))
    sent_with(light, pale(demo("carafe-cracked")))
    assert (found(light), found(bright)) == ([(bright.number, False)], [(light.number, False)])


def test_a_pale_picture_a_stricter_measure_called_plain_is_found() -> None:
    first, again = RequestFactory(), RequestFactory()
    once = sent_with(first, pale(demo("carafe-cracked")))
    Photo.objects.filter(pk=once.pk).update(looks=once.looks[:1], digest="5" * 64)
    sent_with(again, demo("carafe-cracked"))
    assert found(again) == [(first.number, False)]


def test_a_picture_kept_before_looks_were_is_found_by_its_file() -> None:
    first, again = RequestFactory(), RequestFactory()
    sent_with(first, demo("carafe-cracked"))
    Photo.objects.update(looks=[])
    sent_with(again, demo("carafe-cracked"))
    assert found(again) == [(first.number, True)]


def test_only_two_years_are_looked_back() -> None:
    first, again = RequestFactory(), RequestFactory()
    old = sent_with(first, demo("carafe-cracked"))
    sent_with(again, changed(demo("carafe-cracked")))
    Photo.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=729))
    assert found(again) == [(first.number, False)]
    Photo.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=731))
    assert found(again) == []


def test_the_same_file_is_found_however_old_and_however_many_came_since() -> None:
    first, again = RequestFactory(), RequestFactory()
    old = sent_with(first, demo("carafe-cracked"))
    Photo.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=3000))
    sent_with(again, demo("carafe-cracked"))
    assert found(again) == [(first.number, True)]
    sent_with(RequestFactory(), demo("mugs-cracked-rim"))
    assert (found(again, at_most=1), found(first, at_most=1)) == ([(first.number, True)], [(again.number, True)])


def test_looks_that_are_read_later_are_found_by_a_process_that_looked_before() -> None:
    first, again = RequestFactory(), RequestFactory()
    old = sent_with(first, demo("carafe-cracked"))
    Photo.objects.filter(pk=old.pk).update(looks=[])
    sent_with(again, changed(demo("carafe-cracked")))
    assert found(again) == []
    Photo.objects.filter(pk=old.pk).update(looks=old.looks)
    assert found(again) == [(first.number, False)]


def test_what_was_sent_at_a_moment_or_later_is_left_out() -> None:
    first, later = RequestFactory(), RequestFactory()
    sent_with(first, demo("carafe-cracked"))
    sent_with(later, changed(demo("carafe-cracked")))
    assert found(first) == [(later.number, False)]
    assert found(first, at=later.created_at) == []
    assert found(later, at=later.created_at) == [(first.number, False)]


def test_an_earlier_look_up_is_bounded_by_what_was_there_then() -> None:
    """Every picture uploaded until then may have stood between, also one that was sent after `at`."""
    first, again, between, later = (RequestFactory() for _ in range(4))
    sent_with(first, changed(demo("carafe-cracked")))
    sent_with(again, demo("carafe-cracked"))
    sent_with(between, demo("mugs-cracked-rim"))
    then = timezone.now()
    sent_with(later, demo("tamper-dented-base"))
    assert found(again, at=again.created_at, until=then, at_most=3) == [(first.number, False)]
    assert found(again, at=again.created_at, until=then, at_most=2) == []
    assert found(again, at=again.created_at, at_most=3) == []


def test_the_number_of_pictures_and_of_named_requests_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_alikes, "MOST_NAMED", 2)
    earlier = [RequestFactory() for _ in range(3)]
    for request in earlier:
        sent_with(request, demo("carafe-cracked"))
    new = RequestFactory()
    sent_with(new, changed(demo("carafe-cracked")))
    assert found(new) == [(request.number, False) for request in earlier[:2]]
    assert found(new, at_most=1) == []


def soft_pictures(count: int) -> Iterator[NDArray[np.uint8]]:
    """Random grey copies with the waves of a photograph."""
    dice = np.random.default_rng(7)
    waves = np.hypot(*np.meshgrid(np.fft.fftfreq(SIDE), np.fft.fftfreq(SIDE)))
    waves[0, 0] = 1
    for _ in range(count):
        soft = np.fft.ifft2(np.fft.fft2(dice.standard_normal((SIDE, SIDE))) / waves**1.3).real
        yield np.clip(128 + 45 * (soft - soft.mean()) / soft.std(), 0, 255).astype(np.uint8)


def many_pictures(count: int, request: RefundRequest) -> None:
    rows = []
    for whole in soft_pictures(count):
        hashes = hashes_of(whole.astype(np.float32)).astype(">u8")
        looks = [whole.tobytes().hex(), hashes.tobytes().hex()]
        digest = uuid.uuid4().hex * 2
        rows.append(
            Photo(owner=request.customer, request=request, file="x.jpg", digest=digest, width=9, height=9, looks=looks)
        )
    Photo.objects.bulk_create(rows, batch_size=500)


def test_2000_pictures_are_looked_through_quickly_and_with_as_many_queries_as_20(
    django_assert_num_queries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look_alikes, "keeper", ShelfKeeper())
    first, again, crowd = (RequestFactory() for _ in range(3))
    sent_with(first, demo("carafe-cracked"))
    sent_with(again, changed(demo("carafe-cracked")))
    photos = photos_of(again.pk)
    for more in (20, 1980):
        many_pictures(more, crowd)
        reuses(photos, besides=again.pk)  # reads what is new
        with django_assert_num_queries(2):
            assert [reuse.number for reuse in reuses(photos, besides=again.pk)[photos[0].pk]] == [first.number]
    new = RequestFactory()
    photos = [sent_with(new, changed(demo("tamper-dented-base")))]
    started = time.perf_counter()
    assert reuses(photos, besides=new.pk) == {photos[0].pk: []}
    milliseconds = (time.perf_counter() - started) * 1000
    print(f"\na new picture among 2,000: {milliseconds:.0f} ms")
    assert milliseconds < 1000
