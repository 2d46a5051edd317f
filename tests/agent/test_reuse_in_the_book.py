"""The book looks again for pictures that were sent before, among what surely was there when the rules were asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone
from PIL import Image

from agent.canonical import digest_of
from agent.models import ChainRecord
from agent.outcomes import Blocked, Reserved
from agent.pay import refund_automatically
from agent.runs import claim
from agent.verify.evidence import check_files
from agent.verify.pages import read_pages
from intake.look_alikes import reuses
from intake.models import Photo, RefundRequest
from intake.photos import read_photo
from intake.tasks import read_missing_looks
from intake.timeline import write_step
from payments.models import Refund
from tests.agent.book_cases import SEEN, look, paid_automatically
from tests.agent.falsify import named, rewritten
from tests.agent.test_reused_photos import reviewed
from tests.behind_the_book import behind_the_book
from tests.factories import RequestFactory
from tests.intake.test_look_alikes import changed, demo, pale, sent_with, turned

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_photo_folder", "rung")]


def test_the_book_looks_again_and_names_a_reuse_no_rule_was_told_of() -> None:
    """As if it had been there all the time."""
    earlier = RequestFactory(created_at=an_hour_ago())
    request, answer = reviewed(demo("carafe-cracked"))
    assert isinstance(answer, Reserved)
    assert named(request) == ""
    slipped_in(earlier, changed(demo("carafe-cracked")))
    assert named(request) == not_told(earlier)


def an_hour_ago() -> datetime:
    return timezone.now() - timedelta(hours=1)


def slipped_in(earlier: RefundRequest, data: bytes, **columns: Any) -> None:
    photo = sent_with(earlier, data)
    Photo.objects.filter(pk=photo.pk).update(created_at=earlier.created_at, **columns)


def not_told(earlier: RefundRequest) -> str:
    reference = Refund.objects.get().reference
    return f"Refund {reference}: a picture was already sent with request #{earlier.number}, and no rule was told."


def test_a_slow_submission_that_came_to_be_after_the_refund_is_no_misfit() -> None:
    """Its time is that of its beginning, before the other was paid; its rows came after."""
    slow = RequestFactory(created_at=timezone.now() - timedelta(seconds=15))
    request, answer = reviewed(demo("carafe-cracked"))
    assert isinstance(answer, Reserved)
    slipped_in(slow, changed(demo("carafe-cracked")))
    assert named(request) == ""


def test_a_picture_that_was_too_old_when_the_rules_were_asked_is_no_misfit() -> None:
    """Asked for three days before the review, whose two years began those three days later."""
    old = RequestFactory(created_at=timezone.now() - timedelta(days=731))
    slipped_in(old, changed(demo("carafe-cracked")))
    request, answer = reviewed(demo("carafe-cracked"), asked_at=timezone.now() - timedelta(days=3))
    assert isinstance(answer, Reserved)
    assert named(request) == ""


def test_looks_that_were_read_after_the_refund_are_no_misfit() -> None:
    earlier = RequestFactory(created_at=an_hour_ago())
    request, _ = reviewed(demo("carafe-cracked"))
    slipped_in(earlier, changed(demo("carafe-cracked")), looks=[])
    assert (read_missing_looks(), named(request)) == (1, "")
    slipped_in(earlier, demo("carafe-cracked"), looks=[])
    assert named(request) == not_told(earlier)


def test_looks_of_the_refunds_own_picture_that_were_read_later_still_fit() -> None:
    """A build before this one sealed the digest of no looks."""
    earlier = RequestFactory(created_at=an_hour_ago())
    request = RequestFactory()
    photo = sent_with(request, demo("carafe-cracked"))
    slipped_in(earlier, changed(demo("carafe-cracked")))
    Photo.objects.filter(pk=photo.pk).update(looks=[])
    lease = claim(request.runs.get().pk)
    assert lease is not None
    with lease.fenced():
        write_step(request.pk, look(lease.run_id))
    assert isinstance(refund_automatically(lease, SEEN), Reserved)
    link = request.chain.get(kind="reserve")
    assert "looks_sha256" not in link.facts["photos"][0]
    assert (read_missing_looks(), named(request)) == (1, "")
    rewritten(link, lambda facts: facts["photos"][0].update(looks_sha256=digest_of([])))
    assert named(request) == ""


def test_looks_that_are_taken_away_are_a_misfit() -> None:
    request, _ = reviewed(demo("carafe-cracked"))
    behind_the_book(Photo).update(looks=[])
    assert named(request) == "A photo of link 1 has another look than was sealed."


def as_before_plain_pictures_asked(request: RefundRequest, **photo: str) -> None:
    """Its link as the build before this one wrote it."""

    def as_it_was(facts: dict[str, Any]) -> None:
        facts["photos"][0].update(photo)
        del facts["rules"]["facts"]["photo_compared_turned"]
        del facts["rules"]["facts"]["photo_too_plain"]
        for verdict in facts["rules"]["verdicts"]:
            verdict["inputs"].pop("too_plain", None)

    link = request.chain.get(kind="reserve")
    rewritten(link, as_it_was)
    request.runs.update(verdicts=link.facts["rules"]["verdicts"])


def test_a_book_from_when_pale_pictures_were_compared_with_none_still_fits() -> None:
    earlier = RequestFactory(created_at=an_hour_ago())
    request, _ = reviewed(demo("carafe-cracked"))
    slipped_in(earlier, pale(demo("carafe-cracked")))
    light = Photo.objects.get(request=earlier)
    Photo.objects.filter(pk=light.pk).update(looks=light.looks[:1])
    assert named(request) == not_told(earlier)
    as_before_plain_pictures_asked(request)
    assert named(request) == ""
    slipped_in(RequestFactory(created_at=an_hour_ago()), changed(demo("carafe-cracked")))
    assert "and no rule was told" in named(request)


def as_before_turned_pictures_were_compared(request: RefundRequest) -> None:
    """Its link as the build before this one wrote it."""
    rewritten(request.chain.get(kind="reserve"), lambda facts: facts["rules"]["facts"].pop("photo_compared_turned"))


def test_the_book_looks_again_for_turned_copies() -> None:
    earlier = RequestFactory(created_at=an_hour_ago())
    request, answer = reviewed(demo("carafe-cracked"))
    assert isinstance(answer, Reserved)
    slipped_in(earlier, turned(changed(demo("carafe-cracked"))))
    assert named(request) == not_told(earlier)


def test_a_book_from_when_turned_copies_were_not_looked_for_still_fits() -> None:
    """Whatever else it looked for then, also a mirrored copy, it looks for again."""
    earlier, mirrored = (RequestFactory(created_at=an_hour_ago()) for _ in range(2))
    request, _ = reviewed(demo("carafe-cracked"))
    as_before_turned_pictures_were_compared(request)
    slipped_in(earlier, turned(demo("carafe-cracked")))
    assert named(request) == ""
    slipped_in(mirrored, turned(demo("carafe-cracked"), Image.Transpose.FLIP_LEFT_RIGHT))
    assert named(request) == not_told(mirrored)


def test_two_refunds_of_one_book_are_each_judged_as_they_were_compared_then() -> None:
    """The turned copy was paid before turns were looked for; the same picture sent since names both."""
    first, second = RequestFactory(created_at=an_hour_ago()), turned(demo("carafe-cracked"))
    slipped_in(first, demo("carafe-cracked"))
    with before_turned_pictures_were_compared():
        old, answer = reviewed(second, asked_at=timezone.now() - timedelta(minutes=30))
    assert isinstance(answer, Reserved)
    as_before_turned_pictures_were_compared(old)
    new, answer = reviewed(changed(second))
    assert isinstance(answer, Blocked)
    assert new.runs.get().verdicts[3]["inputs"]["looks_like"] == [first.number, old.number]
    assert named(old) == ""


@contextmanager
def before_turned_pictures_were_compared() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as once:
        once.setattr("agent.facts.reuses", partial(reuses, turned=False))
        yield


def test_how_pictures_were_compared_is_sealed() -> None:
    request, _ = reviewed(demo("carafe-cracked"))
    link = request.chain.get(kind="reserve")
    assert link.facts["rules"]["facts"]["photo_compared_turned"] is True
    link.facts["rules"]["facts"]["photo_compared_turned"] = False
    behind_the_book(ChainRecord).filter(pk=link.pk).update(facts=link.facts)
    assert named(request) == f"Link {link.sequence} (money reserved) is not as it was written: its hash does not fit."


def test_a_book_from_when_one_plain_file_was_paid_twice_still_fits() -> None:
    earlier = RequestFactory(created_at=an_hour_ago())
    request, _ = reviewed(pale(demo("carafe-cracked")))
    slipped_in(earlier, pale(demo("carafe-cracked")))
    assert named(request) == not_told(earlier)
    looks = Photo.objects.filter(request=request).get().looks[:1]
    Photo.objects.update(looks=looks)
    as_before_plain_pictures_asked(request, looks_sha256=digest_of(looks))
    assert named(request) == ""


def test_a_picture_sent_later_is_no_misfit() -> None:
    request, _ = reviewed(demo("carafe-cracked"))
    _, again = reviewed(changed(demo("carafe-cracked")))
    assert isinstance(again, Blocked)
    assert named(request) == ""


@pytest.mark.parametrize(
    ("column", "value", "what"), [("looks", ["ab"], "look"), ("camera", {"taken": "2020"}, "word of the camera")]
)
def test_looks_and_camera_are_sealed(column: str, value: Any, what: str) -> None:
    request, _ = reviewed(demo("carafe-cracked"))
    behind_the_book(Photo).update(**{column: value})
    assert named(request) == f"A photo of link 1 has another {what} than was sealed."


def test_a_link_older_than_looks_still_fits() -> None:
    request = paid_automatically()

    def as_it_was(facts: dict[str, Any]) -> None:
        facts["photos"] = [{"id": photo["id"], "sha256": photo["sha256"]} for photo in facts["photos"]]
        del facts["rules"]["facts"]["photo_looks_like"]
        del facts["rules"]["facts"]["photo_compared_turned"]
        del facts["rules"]["facts"]["photo_too_plain"]
        for verdict in facts["rules"]["verdicts"]:
            verdict["inputs"].pop("looks_like", None)
            verdict["inputs"].pop("too_plain", None)

    link = request.chain.get(kind="reserve")
    rewritten(link, as_it_was)
    request.runs.update(verdicts=link.facts["rules"]["verdicts"])
    assert named(request) == ""


def test_the_stored_file_must_look_as_its_row_says() -> None:
    request, _ = reviewed(demo("carafe-cracked"))
    [pages] = read_pages([request.pk])
    assert list(check_files(pages)) == []
    assert read_photo(pages.photos[0])
    other = sent_with(RequestFactory(created_at=timezone.now()), demo("mugs-cracked-rim"))
    pages.photos[0].looks = other.looks
    assert list(check_files(pages)) == ["The file of photo 1 does not look as its row says."]
