from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import override_settings
from django.utils import timezone

from intake.models import Photo, PolicyVersion, RefundRequest, Step
from intake.policy_in_force import policy_in_force
from intake.refusals import Refusal
from intake.statuses import Status
from intake.submit_request import submit_request
from payments.models import OrderLine
from tests.factories import LineFactory, OrderFactory, RequestFactory

pytestmark = pytest.mark.django_db
NewPhoto = Callable[[User], Photo]


def ask(line: OrderLine, **changes: Any) -> RefundRequest:
    wish: dict[str, Any] = {
        "customer": line.order.customer,
        "order_number": line.order.number,
        "sku": line.sku,
        "reason": "changed_mind",
        "details": "I do not need it.",
        "source": "api",
    }
    return submit_request(**(wish | changes))


def refused(line: OrderLine, **changes: Any) -> Refusal:
    before = RefundRequest.objects.count(), Step.objects.count()
    with pytest.raises(Refusal) as raised:
        ask(line, **changes)
    assert (RefundRequest.objects.count(), Step.objects.count()) == before
    assert raised.value.sentence.endswith(".")
    return raised.value


def test_a_request_keeps_what_was_asked_and_the_policy_in_force(kettle: OrderLine, policy: PolicyVersion) -> None:
    request = ask(kettle, details="  I do not need it.\r\nSorry.  ")
    assert request.details == "I do not need it.\nSorry."
    assert (request.status, request.units, request.amount_minor, request.currency) == ("submitted", 1, 12_900, "USD")
    assert (request.policy, request.customer, request.source) == (policy, kettle.order.customer, "api")


def test_the_newest_policy_is_pinned(kettle: OrderLine, policy: PolicyVersion) -> None:
    newer = PolicyVersion.objects.create(number=2, currency="USD", auto_refund_limit_minor=4000, refund_window_days=14)
    assert ask(kettle).policy == newer == policy_in_force()


def test_the_first_step_is_written_for_the_customer(kettle: OrderLine) -> None:
    request = ask(kettle)
    step = Step.objects.get(request=request)
    assert (step.title, step.detail, step.for_customer) == ("You asked for a refund", "I do not need it.", True)
    assert (step.kind, step.actor, step.actor_user, step.rev) == ("trigger", "customer", request.customer, 1)


def test_photos_are_locked_to_the_request(kettle: OrderLine, new_photo: NewPhoto) -> None:
    photo = new_photo(kettle.order.customer)
    request = ask(kettle, reason="damaged", photo_ids=[str(photo.pk), photo.pk])
    assert list(request.photos.all()) == [photo]


def test_an_order_of_someone_else_is_refused_like_a_missing_one(kettle: OrderLine, aiko: User) -> None:
    theirs = refused(kettle, customer=aiko)
    missing = refused(kettle, customer=aiko, order_number="PH-99999")
    assert theirs.as_json() == missing.as_json()
    assert theirs.code == "order_not_found"


@pytest.mark.parametrize("number", ["", "PH-1\x00", "\ud800", "x" * 5000])
def test_a_number_nothing_can_have_is_not_found(kettle: OrderLine, number: str) -> None:
    assert refused(kettle, order_number=number).code == "order_not_found"


def test_an_item_that_is_not_in_the_order_is_refused(kettle: OrderLine) -> None:
    LineFactory(sku="GRD-C40")
    assert refused(kettle, sku="GRD-C40").code == "item_not_found"


@pytest.mark.parametrize("delivered_in", [None, timedelta(hours=2)])
def test_what_is_not_delivered_yet_is_refused(kettle: OrderLine, delivered_in: timedelta | None) -> None:
    kettle.delivered_at = timezone.now() + delivered_in if delivered_in else None
    kettle.save()
    assert refused(kettle).code == "not_delivered"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"reason": "bored"}, "reason"),
        ({"reason": ""}, "reason"),
        ({"details": ""}, "details"),
        ({"details": " \n\x00 "}, "details"),
        ({"details": "\u200b \u202e\ufeff"}, "details"),
        ({"details": "x" * 1001}, "details"),
        ({"units": 0}, "units"),
        ({"units": -1}, "units"),
        ({"units": 2}, "units"),
        ({"photo_ids": [uuid.uuid4() for _ in range(6)]}, "photos"),
    ],
)
def test_input_that_cannot_be_is_refused_by_field(kettle: OrderLine, changes: dict[str, Any], field: str) -> None:
    refusal = refused(kettle, **changes)
    assert (refusal.code, refusal.field) == ("invalid_input", field)


def test_a_thousand_characters_are_taken_whatever_the_line_ends(kettle: OrderLine) -> None:
    request = ask(kettle, details="ab\r\n" * 333 + "z")
    assert len(request.details) == 1000


@pytest.mark.parametrize("reason", ["damaged", "defective", "wrong_item"])
def test_a_fault_needs_a_photo(kettle: OrderLine, reason: str) -> None:
    assert refused(kettle, reason=reason).code == "photo_required"


def test_a_photo_of_someone_else_a_used_one_and_none_are_refused_alike(
    kettle: OrderLine, aiko: User, new_photo: NewPhoto
) -> None:
    theirs = new_photo(aiko)
    used = new_photo(kettle.order.customer)
    Photo.objects.filter(pk=used.pk).update(request=RequestFactory())
    answers = [
        refused(kettle, reason="damaged", photo_ids=[given]).as_json()
        for given in (theirs.pk, used.pk, uuid.uuid4(), "no-id")
    ]
    assert {answer["error"] for answer in answers} == {"photo_not_found"}
    assert all(answer == answers[0] for answer in answers)
    theirs.refresh_from_db()
    assert (theirs.request, theirs.reply) == (None, None)


def test_one_bad_photo_leaves_the_good_one_unused(kettle: OrderLine, new_photo: NewPhoto) -> None:
    good = new_photo(kettle.order.customer)
    refused(kettle, reason="damaged", photo_ids=[good.pk, uuid.uuid4()])
    good.refresh_from_db()
    assert (good.request, good.reply) == (None, None)


def test_an_open_request_is_named_to_whoever_asks_again(kettle: OrderLine) -> None:
    first = ask(kettle)
    refusal = refused(kettle)
    assert refusal.code == "request_exists"
    assert refusal.extra == {"id": str(first.uuid), "number": first.number}


@pytest.mark.parametrize("status", ["refunded", "declined", "closed"])
def test_units_that_were_asked_for_once_are_never_asked_for_again(kettle: OrderLine, status: Status) -> None:
    first = ask(kettle)
    RefundRequest.objects.update(status=status)
    assert refused(kettle).extra["id"] == str(first.uuid)


def test_the_units_that_are_left_can_be_asked_for_once_the_first_request_has_ended(priya: User) -> None:
    line = LineFactory(order=OrderFactory(customer=priya), quantity=3, unit_price_minor=333, paid_minor=1000)
    first = ask(line, units=1)
    assert refused(line).code == "request_exists"
    RefundRequest.objects.update(status="refunded")
    second = ask(line)
    assert (first.amount_minor, second.units, second.amount_minor) == (333, 2, 667)
    RefundRequest.objects.update(status="refunded")
    assert refused(line).extra["number"] == second.number


def test_a_request_that_came_back_from_its_end_leaves_the_other_units_free(priya: User) -> None:
    line = LineFactory(order=OrderFactory(customer=priya), quantity=2)
    ask(line, units=1)
    RefundRequest.objects.update(status="needs_approval", reopened=True)
    assert ask(line).units == 1


def test_an_item_that_cost_nothing_is_refused(priya: User) -> None:
    line = LineFactory(order=OrderFactory(customer=priya), paid_minor=0)
    assert refused(line).code == "invalid_input"


def test_a_share_that_rounds_to_nothing_is_refused(priya: User) -> None:
    line = LineFactory(order=OrderFactory(customer=priya), quantity=3, unit_price_minor=1, paid_minor=1)
    assert refused(line, units=1).field == "units"
    assert ask(line, units=3).amount_minor == 1


@override_settings(REQUESTS_PER_DAY=2)
def test_the_day_has_a_limit_for_each_customer(priya: User, aiko: User) -> None:
    lines = [LineFactory(order=OrderFactory(customer=priya)) for _ in range(3)]
    ask(lines[0])
    ask(lines[1])
    assert refused(lines[2]).code == "too_many_requests"
    assert ask(LineFactory(order=OrderFactory(customer=aiko)))
    RefundRequest.objects.filter(customer=priya).update(created_at=timezone.now() - timedelta(days=1, minutes=1))
    assert ask(lines[2])
