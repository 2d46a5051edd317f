"""Writes the resolved requests, oldest first, so that each finds the refunds before it."""

from __future__ import annotations

from django.db.models import QuerySet

from intake.models import Photo, RefundRequest
from intake.statuses import Status
from payments.models import OrderLine
from refunddesk.demo_shop import people_steps
from refunddesk.demo_shop.case import Case
from refunddesk.demo_shop.cases import CASES
from refunddesk.demo_shop.first_review import review
from refunddesk.demo_shop.pictures import store
from refunddesk.demo_shop.scene import History, Scene
from refunddesk.demo_shop.staff_answer import answer_card
from refunddesk.demo_shop.tape import insert


def missing_cases() -> list[Case]:
    """The resolved requests that are not in the shop yet."""
    asked = set(_requests().values_list("line__order__number", "line__sku"))
    return [case for case in CASES if (case.order, case.sku) not in asked]


def write_cases(history: History, cases: list[Case]) -> None:
    lines = {
        (line.order.number, line.sku): line
        for line in OrderLine.objects.select_related("order__customer").filter(
            order__number__in=[case.order for case in cases]
        )
    }
    for case in cases:
        _write(Scene(history, case, lines[case.order, case.sku]))


def _write(scene: Scene) -> None:
    _keep_photo(scene)
    scene.tape.add(people_steps.asked(scene.request))
    approval = review(scene)
    scene.end(Status.REFUNDED if approval is None else answer_card(scene, approval))


def _keep_photo(scene: Scene) -> None:
    if scene.case.look is None:
        return
    name = scene.case.look.photo
    photo = Photo(
        owner=scene.request.customer,
        request=scene.request,
        given_name=f"{name}.jpg",
        created_at=scene.request.created_at,
    )
    store(photo, scene.history.pictures[name])
    scene.history.stored.append(str(photo.file.name))
    insert(photo)


def _requests() -> QuerySet[RefundRequest]:
    return RefundRequest.objects.filter(line__order__number__in=[case.order for case in CASES])
